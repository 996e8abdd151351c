declare const __AO_VERSION__: string | undefined;

/** The version of this build; the bundler puts it in. */
export const VERSION = typeof __AO_VERSION__ === "string" ? __AO_VERSION__ : "0.0.0-unbuilt";
