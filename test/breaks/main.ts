/**
 * Breaks the program on purpose, one break after the other, and sees whether somebody notices (`npm run breaks`).
 * @module
 */
import { toTable } from "../../docs/generator/markdown.ts";
import { readFlagNames, readFlagNumber, readFlags } from "../support/command_flags.ts";
import type { Break } from "./break.ts";
import { BREAKS } from "./breaks.ts";
import { findCatch, listCatchers, type Catcher } from "./catchers.ts";
import { WorkCopy } from "./work_copy.ts";

/** What became of one break. */
interface Finding {
  readonly id: string;
  readonly catcher: string;
  /** What caught it; absent when nothing did. */
  readonly caught: string | undefined;
  readonly seconds: number;
}

const IDS = BREAKS.map(({ id }) => id);
const USAGE = `Usage: npm run breaks -- [options]

  --only ID,ID  some breaks (default: all; their IDs stand in docs/contributing/testing.md)
  --jobs N      how many at once (default: 2)
  --quick       without the simulation
`;

const { only, jobsMax, quick } = readFlags(
  USAGE,
  {
    only: { type: "string", default: IDS.join(",") },
    jobs: { type: "string", default: "2" },
    quick: { type: "boolean", default: false },
  },
  ({ only, jobs, quick }) => ({
    only: readFlagNames("--only", only, IDS),
    jobsMax: readFlagNumber("--jobs", jobs),
    quick,
  }),
);
const chosen = BREAKS.filter(({ id }) => only.includes(id)).map(({ simulated, ...one }): Break =>
  simulated && !quick ? { ...one, simulated } : one,
);

/** Runs `work` for every item, so many at once, each time with a copy of its own. */
async function spread<T>(
  items: readonly T[],
  work: (copy: WorkCopy, item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const lane = async (): Promise<void> => {
    await using copy = await WorkCopy.create();
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(copy, item);
  };
  const jobs = Math.max(1, Math.min(jobsMax, items.length));
  await Promise.all(Array.from({ length: jobs }, lane));
}

/** Catchers that fail without any break. They would catch everything. */
async function listUseless(): Promise<string[]> {
  const useless: string[] = [];
  const all = new Map<string, Catcher>();
  for (const one of chosen) {
    for (const catcher of listCatchers(one)) all.set(catcher.name, catcher);
  }
  await spread([...all.values()], async (copy, { name, args }) => {
    const { code, output } = await copy.run(args);
    if (code === 0) return;
    useless.push(name);
    process.stderr.write(`${name} fails although nothing is broken:\n${output.slice(-4_000)}\n`);
  });
  return useless;
}

async function examine(copy: WorkCopy, one: Break, findings: Finding[]): Promise<void> {
  for (const catcher of listCatchers(one)) {
    const startedMs = performance.now();
    const result = await copy.withEdits(one.edits, () => copy.run(catcher.args));
    const seconds = (performance.now() - startedMs) / 1_000;
    const caught = findCatch(result);
    findings.push({ id: one.id, catcher: catcher.name, caught, seconds });
    process.stderr.write(
      `${caught === undefined ? "SURVIVED" : "caught"} ${one.id} ${seconds.toFixed(1)}\n`,
    );
  }
}

const findings: Finding[] = [];
const useless = await listUseless();
if (useless.length === 0) await spread(chosen, (copy, one) => examine(copy, one, findings));
const order = new Map(BREAKS.map(({ id }, at) => [id, at]));
const sorted = findings.toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
const rows = sorted.map(({ id, catcher, caught, seconds }) => [
  id,
  catcher,
  caught ?? "SURVIVED",
  seconds.toFixed(1),
]);
const survivors = sorted.filter(({ caught }) => caught === undefined);
process.stdout.write(toTable(["break", "given to", "caught by", "seconds"], rows));
process.stdout.write(
  `${chosen.length} breaks, ${survivors.length} of ${findings.length} attempts to catch one failed\n`,
);
process.exitCode = useless.length > 0 || survivors.length > 0 ? 1 : 0;
