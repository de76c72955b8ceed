/**
 * `npm run soak`: the compiled controller for a long time, with all events of a cluster's life.
 * @module
 */
import { existsSync } from "node:fs";
import { appendFile, writeFile } from "node:fs/promises";
import { readFlagNames, readFlagNumber, readFlags } from "../../test/support/command_flags.ts";
import { Random } from "../../test/support/random.ts";
import type { ActName } from "./acts.ts";
import { Controller } from "../controller.ts";
import { describeMachine } from "../meters/machine.ts";
import { Simulators } from "../processes.ts";
import { judge, type Sample } from "./verdict.ts";

/** How often each act runs, relative to all acts. */
const WEIGHTS: readonly (readonly [ActName | "configure", weight: number])[] = [
  ["move", 400],
  ["join", 100],
  ["leave", 100],
  ["editLabel", 60],
  ["halt", 40],
  ["moveAcrossPools", 40],
  ["dropWatches", 20],
  ["failCloud", 10],
  ["expireWatches", 8],
  ["dropPool", 8],
  ["renewToken", 6],
  ["configure", 6],
  ["restartCloud", 2],
];
const ACTS = WEIGHTS.map(([name]) => name);
const USAGE = `Usage: npm run soak -- [options]

  --minutes=N       duration (default: 30)
  --nodes=N         number of Nodes (default: 500)
  --seed=N          seed of the random acts (default: the time)
  --binary=FILE     program to run (default: dist/landfall)
  --samples=FILE    write samples to this file, and the log to FILE.log

To find a leak:
  --acts=NAME,NAME  run only these acts: ${ACTS.join(", ")}
  --gap=MS          average time between two acts (default: 1000)

The exit code is 1 if a check fails.
`;

const { minutes, count, seed, gapMs, acts, ...values } = readFlags(
  USAGE,
  {
    minutes: { type: "string", default: "30" },
    nodes: { type: "string", default: "500" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    binary: { type: "string", default: "dist/landfall" },
    samples: { type: "string", default: "" },
    acts: { type: "string", default: ACTS.join(",") },
    gap: { type: "string", default: "1000" },
  },
  ({ minutes, nodes, seed, gap, acts, ...rest }) => ({
    ...rest,
    minutes: readFlagNumber("--minutes", minutes, { fraction: true }),
    count: readFlagNumber("--nodes", nodes),
    seed: readFlagNumber("--seed", seed, { min: 0 }),
    gapMs: readFlagNumber("--gap", gap, { min: 0 }),
    acts: readFlagNames("--acts", acts, ACTS),
  }),
);

const SAMPLE_GAP_MS = 10_000;
const HEARTBEAT_MS = 10_000;
const READY_MS = 30_000;
/** Longer than Landfall waits before it deletes the Node of a deleted machine. */
const QUIET_MS = 240_000;
const QUIET_POLL_MS = 5_000;
/** Longer than an idle connection is kept. */
const IDLE_MS_MAX = 360_000;
const HOUR_MS = 3_600_000;

interface Run {
  readonly simulators: Simulators;
  readonly controller: Controller;
  readonly startMs: number;
  readonly endMs: number;
}

/** Runs acts until the end. */
async function play({ simulators, controller, endMs }: Run, seed: number): Promise<void> {
  const random = new Random(seed).next;
  while (performance.now() < endMs && controller.exitCode === null) {
    await Bun.sleep(gapMs * 2 * random());
    const name = chooseAct(random());
    const pick = random();
    if (name === "configure") {
      const holdOff = `deletion:\n  holdOff: ${60 + Math.floor(pick * 5)}s\n`;
      await controller.configure(simulators.places, holdOff);
      continue;
    }
    const { about } = await simulators.act(name, pick);
    if (name === "renewToken") await controller.giveToken(about);
  }
}

function chooseAct(at: number): ActName | "configure" {
  const weights = WEIGHTS.filter(([name]) => acts.includes(name));
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = at * total;
  for (const [name, weight] of weights) {
    left -= weight;
    if (left < 0) return name;
  }
  return "move";
}

/** Reads all figures from time to time, and scrapes the metrics like Prometheus. */
async function sample(run: Run, samples: Sample[]): Promise<void> {
  const { simulators, controller, startMs, endMs } = run;
  while (performance.now() < endMs && controller.exitCode === null) {
    await Bun.sleep(SAMPLE_GAP_MS);
    await controller.get("/metrics");
    if (controller.exitCode !== null) return;
    const { resident, anonymous, descriptors, threads } = await controller.readHoldings();
    const { cloudRequests, requests } = await simulators.progress();
    const one: Sample = {
      hours: (performance.now() - startMs) / HOUR_MS,
      resident,
      anonymous,
      descriptors,
      threads,
      cpuSeconds: await controller.readCpu(),
      cloudRequests,
      requests,
    };
    samples.push(one);
    if (values.samples !== "") await appendFile(values.samples, `${JSON.stringify(one)}\n`);
    if (samples.length % 6 === 0) console.error(describe(one));
  }
}

function describe({ hours, ...rest }: Sample): string {
  const cells = Object.entries(rest).map(([name, value]) => `${name} ${Number(value.toFixed(1))}`);
  return `${(hours * 60).toFixed(1)} min: ${cells.join(", ")}`;
}

/** Names of Nodes that are not right although nothing happens any more. */
async function settle({ simulators }: Run): Promise<string> {
  const endMs = performance.now() + QUIET_MS;
  for (;;) {
    const { about } = await simulators.act("findWrong", 0);
    if (about === "" || performance.now() > endMs) return about;
    await Bun.sleep(QUIET_POLL_MS);
  }
}

/** Idle descriptors: at most as many as at the start, or what is left after idle connections had time to close. */
async function countAtRest({ controller }: Run, before: number): Promise<number> {
  const endMs = performance.now() + IDLE_MS_MAX;
  for (;;) {
    const { descriptors } = await controller.readHoldings();
    if (descriptors <= before || performance.now() > endMs) return descriptors;
    await Bun.sleep(QUIET_POLL_MS);
  }
}

/** A settled fleet: the fleet limit depends on the number of Nodes ten minutes ago. */
async function initialise(simulators: Simulators, count: number): Promise<void> {
  await using controller = await Controller.start({
    binary: values.binary,
    places: simulators.places,
  });
  await controller.untilProbe("/readyz", READY_MS);
  await simulators.register();
  while ((await simulators.progress()).initialised < count) await Bun.sleep(QUIET_POLL_MS / 10);
}

async function soak(): Promise<boolean> {
  console.log(`${describeMachine()}, ${values.binary}, ${count} Nodes, seed ${seed}`);
  await using simulators = await Simulators.start(count);
  await initialise(simulators, count);
  await using controller = await Controller.start({
    binary: values.binary,
    places: simulators.places,
  });
  await controller.untilProbe("/readyz", READY_MS);
  await simulators.startHeartbeats(HEARTBEAT_MS);
  const { descriptors: before } = await controller.readHoldings();
  const startMs = performance.now();
  const run = { simulators, controller, startMs, endMs: startMs + minutes * 60_000 };
  const samples: Sample[] = [];
  await Promise.all([play(run, seed), sample(run, samples)]);
  const died = controller.exitCode;
  const wrong = died === null ? await settle(run) : `(it ended by itself with code ${died})`;
  const after = died === null ? await countAtRest(run, before) : Number.NaN;
  const exitCode = died === null ? await controller.stop() : undefined;
  const log = await controller.readLog();
  if (values.samples !== "") await writeFile(`${values.samples}.log`, log);
  const findings = judge({ samples, log, exitCode, wrong, descriptors: { before, after } });
  for (const { title, measured, isFine } of findings) {
    console.log(`${isFine ? "ok " : "BAD"}  ${title}: ${measured}`);
  }
  return findings.every(({ isFine }) => isFine);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
if (!existsSync(values.binary)) {
  console.error(`Cannot find ${values.binary}: run "npm run build" first`);
  process.exit(2);
}
process.exit((await soak()) ? 0 : 1);
