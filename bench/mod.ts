/**
 * `npm run bench`: what Landfall costs, against its budgets. Build first: the compiled binary is what is measured.
 *
 * Flags: `--binary=FILE` (default dist/landfall), `--only=micro,start,rest,100,1000,5000`, `--settle=SECONDS` (default
 * 40, longer than one interval of refreshes), `--strict` (exit code 1 when a figure is over its budget).
 * @module
 */
import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type Figures, formatFigures } from "./budgets.ts";
import { measureMicro } from "./micro.ts";
import { Simulators } from "./processes.ts";
import { measureFleet, measureRest, measureRestart, measureStart } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    binary: { type: "string", default: "dist/landfall" },
    only: { type: "string", default: "micro,start,rest,100,1000,5000" },
    settle: { type: "string", default: "40" },
    strict: { type: "boolean", default: false },
  },
});

const MEASUREMENTS: Readonly<
  Record<string, (binary: string, settleMs: number) => Promise<Figures>>
> = {
  micro: () => Promise.resolve(measureMicro()),
  start: (binary) => measureStart(binary),
  rest: (binary, settleMs) => measureRest(binary, settleMs),
  "100": async (binary, settleMs) => {
    const count = 100;
    await using simulators = await Simulators.start(count);
    const fleet = await measureFleet(binary, simulators, { count, settleMs });
    const { settled, idle, beating } = fleet;
    return {
      settled100: settled,
      idleCloud100: idle.cloudRequests,
      idleCpu100: idle.cpuSeconds,
      beatingCpu100: beating.cpuSeconds,
    };
  },
  "1000": async (binary, settleMs) => {
    const count = 1_000;
    await using simulators = await Simulators.start(count);
    const options = { count, settleMs, withLife: true };
    const { idle, beating, life, ...fleet } = await measureFleet(binary, simulators, options);
    return {
      ...life,
      idleCloud1000: idle.cloudRequests,
      idleRequests1000: idle.requests,
      idleCpu1000: idle.cpuSeconds,
      beatingCpu1000: beating.cpuSeconds,
      initialise: fleet.seconds,
      cpu: fleet.cpuSeconds,
      cloudRequests: fleet.cloudRequests,
      writes: fleet.writesPerNode,
      peak1000: fleet.peak,
      settled1000: fleet.settled,
      anonymous1000: fleet.anonymous,
    };
  },
  "5000": async (binary, settleMs) => {
    const count = 5_000;
    await using simulators = await Simulators.start(count);
    const fleet = await measureFleet(binary, simulators, { count, settleMs });
    const restart = await measureRestart(binary, simulators, settleMs);
    return {
      idleCloud5000: fleet.idle.cloudRequests,
      idleRequests5000: fleet.idle.requests,
      idleCpu5000: fleet.idle.cpuSeconds,
      beatingCpu5000: fleet.beating.cpuSeconds,
      initialise5000: fleet.seconds,
      peak5000: fleet.peak,
      settled5000: fleet.settled,
      anonymous5000: fleet.anonymous,
      restartReady: restart.ready,
      restartPeak: restart.peak,
      restartSettled: restart.settled,
    };
  },
};

if (!existsSync(values.binary)) {
  console.error(`Cannot find ${values.binary}: run "npm run build" first`);
  process.exit(2);
}
const load = loadavg().map((one) => one.toFixed(1));
console.log(`${cpus().length} processors, load ${load.join(" ")}, ${values.binary}\n`);
const figures: Figures = {};
for (const name of values.only.split(",")) {
  const measure = MEASUREMENTS[name];
  if (measure === undefined) throw new Error(`there is no measurement "${name}"`);
  console.error(`measuring: ${name}`);
  Object.assign(figures, await measure(values.binary, Number(values.settle) * 1_000));
}
const { text, over } = formatFigures(figures);
console.log(text);
process.exit(over && values.strict ? 1 : 0);
