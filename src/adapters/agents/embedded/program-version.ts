/** Version of the embedded agent's prompt language and conversation files. */
export const PROGRAM_VERSION = "1.0";
