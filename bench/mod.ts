/**
 * `npm run bench`: the cost of Landfall, compared with its budgets. It measures the compiled binary, so build first.
 * @module
 */
import { existsSync } from "node:fs";
import { readFlagNames, readFlagNumber, readFlags } from "../test/support/command_flags.ts";
import { alignColumns, formatFigures } from "./budgets.ts";
import { CLOUD_NAMES, CLOUDS, readCloudName } from "./clouds/mod.ts";
import { listBends, toCurveTable } from "./curve.ts";
import { describeKind, describeLoad, describeMachine } from "./meters/machine.ts";
import { MEASUREMENTS } from "./measurements.ts";
import { mergeResults, NO_RESULTS, type Results, saveResults } from "./results.ts";

const NAMES = CLOUD_NAMES.map(
  (cloud) => `${cloud}: ${Object.keys(MEASUREMENTS[cloud]).join(", ")}`,
);
const USAGE = `Usage: npm run bench -- [options]

  --binary=FILE     program to measure (default: dist/landfall)
  --cloud=NAME      cloud to simulate: ${CLOUD_NAMES.join(", ")} (default: ${CLOUD_NAMES[0]})
  --only=NAME,NAME  measure only these (default: all)
                    ${NAMES.join("\n                    ")}
  --settle=SECONDS  how long a process may settle before it is measured (default: 35, longer than one
                    refresh interval)
  --save            save to docs/benchmark/results.json; npm run docs then makes the page and its charts
  --strict          exit code 1 when a figure is over its budget or a curve bends
`;

const { cloud, names, settleMs, ...values } = readFlags(
  USAGE,
  {
    binary: { type: "string", default: "dist/landfall" },
    cloud: { type: "string", default: "xenorchestra" },
    only: { type: "string" },
    settle: { type: "string", default: "35" },
    save: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
  },
  ({ only, settle, ...rest }) => {
    const cloud = readCloudName("--cloud", rest.cloud);
    const known = Object.keys(MEASUREMENTS[cloud]);
    const settleMs = readFlagNumber("--settle", settle, { fraction: true, min: 0 }) * 1_000;
    return {
      ...rest,
      cloud,
      settleMs,
      names: readFlagNames("--only", only ?? known.join(), known),
    };
  },
);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
if (!existsSync(values.binary)) {
  console.error(`Cannot find ${values.binary}: run "npm run build" first`);
  process.exit(2);
}
// Linux maps a file that was just written in large pieces, which adds 5 to 7 MiB: it has to be read from the disk.
Bun.spawnSync(["sync", values.binary]);
Bun.spawnSync(["dd", `if=${values.binary}`, "iflag=nocache", "count=0"]);
console.log(`${describeMachine()}, ${values.binary}, ${CLOUDS[cloud].title}\n`);
let results: Results = NO_RESULTS;
for (const name of names) {
  const loadBefore = describeLoad();
  const startMs = performance.now();
  const measured = await MEASUREMENTS[cloud][name]?.({ binary: values.binary, cloud }, settleMs);
  if (measured === undefined) continue;
  const loadAfter = describeLoad();
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
  console.error(`measured ${name} in ${seconds} s, load ${loadBefore} before, ${loadAfter} after`);
  results = mergeResults(results, {
    figures: measured.figures,
    curve: measured.curve ?? [],
    runs: {
      [name]: {
        date: new Date().toISOString().slice(0, 10),
        machine: describeKind(),
        loadBefore,
        loadAfter,
      },
    },
  });
  if (values.save) await saveResults(cloud, results);
}
const { text, over } = formatFigures(results.figures, cloud);
console.log(text);
const bends = listBends(results.curve);
if (results.curve.length > 0) {
  const { header, rows } = toCurveTable(results.curve);
  console.log(`\n${alignColumns([header, ...rows])}`);
  console.log(
    bends.length === 0 ? "no curve bends" : bends.map((one) => `BENDS: ${one}`).join("\n"),
  );
}
process.exit((over || bends.length > 0) && values.strict ? 1 : 0);
