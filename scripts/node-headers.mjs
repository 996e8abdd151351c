// Prints the folder whose include/node holds the headers of this very Node, or nothing: a native package can be
// compiled against them where the network brings none.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const prefix = process.argv[2] ?? dirname(dirname(process.execPath));

function version() {
  const text = readFileSync(join(prefix, "include", "node", "node_version.h"), "utf8");
  const part = (name) => new RegExp(`^#define NODE_${name}_VERSION (\\d+)$`, "m").exec(text)?.[1];
  return [part("MAJOR"), part("MINOR"), part("PATCH")].join(".");
}

try {
  if (version() === process.versions.node) console.log(prefix);
} catch {
  // No headers beside it: npm fetches them.
}
