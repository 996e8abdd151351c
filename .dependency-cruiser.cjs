/** The hexagon of docs/ARCHITECTURE.md as rules: what each layer may import besides itself. */
const layers = {
  domain: [],
  ports: ["domain"],
  lifecycle: ["domain", "ports"],
  adapters: ["domain", "ports"],
};

const layerRules = Object.entries(layers).map(([layer, allowed]) => ({
  name: `${layer}-imports-only-${allowed.join("-and-") || "itself"}`,
  severity: "error",
  from: { path: `^src/${layer}/` },
  to: { path: "^(src|cmd)/", pathNot: `^src/(${[layer, ...allowed].join("|")})/` },
}));

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "core-is-pure",
      comment: "domain, ports and lifecycle use no package and no Node built-in",
      severity: "error",
      from: { path: "^src/(domain|ports|lifecycle)/" },
      to: { dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "core"] },
    },
    {
      name: "adapters-are-strangers",
      severity: "error",
      from: { path: "^src/adapters/([^/]+)/" },
      to: { path: "^src/adapters/", pathNot: "^src/adapters/$1/" },
    },
    {
      name: "only-compose-imports-adapters",
      severity: "error",
      from: { path: "^(cmd|src)/", pathNot: "^src/(compose(\\.ts$|/)|adapters/)" },
      to: { path: "^src/adapters/" },
    },
    {
      name: "only-compose-imports-its-parts",
      severity: "error",
      from: { pathNot: "^src/compose(\\.ts$|/)" },
      to: { path: "^src/compose/" },
    },
    {
      name: "only-compose-and-index-lie-above-the-layers",
      comment: "src/ itself holds the composition root and the library; all else has a layer",
      severity: "error",
      from: { path: "^src/[^/]+$", pathNot: "^src/(compose|index)\\.ts$" },
      to: {},
    },
    {
      name: "only-compose-and-index-are-imported-from-above-the-layers",
      severity: "error",
      from: {},
      to: { path: "^src/[^/]+$", pathNot: "^src/(compose|index)\\.ts$" },
    },
    {
      name: "nothing-imports-the-command-line",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^cmd/" },
    },
    { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    ...layerRules,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
