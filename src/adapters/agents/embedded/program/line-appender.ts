/**
 * Adds whole lines by `write`, which may fail when a part was written already.
 *
 * After a failure, and at first when `startsTorn`, the next line is preceded by a line feed: so the torn
 * one stays by itself and takes no later line with it. Errors of `write` come through.
 */
export function lineAppender(write: (text: string) => void, startsTorn: boolean): (line: string) => void {
  let torn = startsTorn;
  return (line) => {
    const text = `${torn ? "\n" : ""}${line}\n`;
    torn = true;
    write(text);
    torn = false;
  };
}
