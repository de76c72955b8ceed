/**
 * Runs the simulation from the command line: `npm run simulate -- --seed 7`.
 * @module
 */
import { type FlagRange, readFlagNumber, readFlags } from "../support/command_flags.ts";
import { type Ending, runSipStory, runStory, runVinoStory } from "./mod.ts";

const USAGE = `Usage: npm run simulate -- [options]

  --seed N      that seed, with everything that happened in it; with --count or --minutes, the first of several
                (default: one that nobody ran before, and 1000 from there on)
  --count K     so many seeds
  --minutes M   as many seeds as there is time for
  --sipclusters stories of SIPClusters
  --vinos       stories of Vinos; without either, of Nodes and Services
`;
/** So much of a trace is shown of a seed that fails among others. */
const TAIL_LINES = 80;
const SEED_COUNT = 2 ** 32;
const SEEDS: FlagRange = { min: 0, max: SEED_COUNT - 1 };
const REPORT_EVERY_MS = 10_000;

/** What is wanted; `minutes` may be without an end. */
type Order = { readonly subject: Subject } & ({ readonly seed: number } | Many);
/** What stories are of, by the flag that asks for them. */
type Subject = "" | "--sipclusters " | "--vinos ";

interface Many {
  readonly first: number;
  readonly count: number;
  readonly minutes: number;
}

type Run = (seed: number) => Promise<Ending>;

const RUNS: Readonly<Record<Subject, Run>> = {
  "": runStory,
  "--sipclusters ": runSipStory,
  "--vinos ": runVinoStory,
};

process.exitCode = await main();

async function main(): Promise<number> {
  const order = readOrder();
  const run = RUNS[order.subject];
  if ("seed" in order) return await runOne(order.seed, run);
  return await runMany(order, run);
}

function readOrder(): Order {
  const options = {
    seed: { type: "string" },
    count: { type: "string" },
    minutes: { type: "string" },
    sipclusters: { type: "boolean" },
    vinos: { type: "boolean" },
  } as const;
  return readFlags(USAGE, options, ({ count, minutes, ...values }) => {
    const subject = values.vinos ? "--vinos " : values.sipclusters ? "--sipclusters " : "";
    const seed = readFlagNumber("--seed", values.seed ?? String(Date.now() % SEED_COUNT), SEEDS);
    if (values.seed !== undefined && (count ?? minutes) === undefined) {
      return { subject, seed };
    }
    return {
      subject,
      first: seed,
      count: readFlagNumber("--count", count ?? String(minutes === undefined ? 1_000 : SEED_COUNT)),
      minutes: readFlagNumber("--minutes", minutes ?? "Infinity", { fraction: true }),
    };
  });
}

async function runOne(seed: number, run: Run): Promise<number> {
  const ending = await run(seed);
  console.log(ending.trace.join("\n"));
  console.log(`seed ${seed}, trace ${ending.hash.slice(0, 16)}`);
  for (const violation of ending.violations) console.log(`BROKEN: ${violation}`);
  return ending.violations.length === 0 ? 0 : 1;
}

async function runMany(
  { first, count, minutes, subject }: Many & Pick<Order, "subject">,
  run: Run,
): Promise<number> {
  const startedMs = performance.now();
  const untilMs = startedMs + minutes * 60_000;
  let reportMs = startedMs + REPORT_EVERY_MS;
  let virtualMs = 0;
  for (let done = 0; ;) {
    const ending = await run((first + done) % SEED_COUNT);
    done += 1;
    virtualMs += ending.virtualMs;
    if (ending.violations.length > 0) {
      tellFailure(ending, subject);
      return 1;
    }
    const nowMs = performance.now();
    const isOver = done >= count || nowMs >= untilMs;
    if (nowMs < reportMs && !isOver) continue;
    reportMs = nowMs + REPORT_EVERY_MS;
    const perSecond = (done / ((nowMs - startedMs) / 1_000)).toFixed(1);
    const hours = (virtualMs / 3_600_000).toFixed(1);
    console.log(`${done} seeds from ${first} on, ${perSecond} a second, ${hours} hours of theirs`);
    if (isOver) return 0;
  }
}

function tellFailure({ seed, trace, violations }: Ending, subject: Subject): void {
  console.log(trace.slice(-TAIL_LINES).join("\n"));
  for (const violation of violations) console.log(`BROKEN: ${violation}`);
  console.log(`npm run simulate -- ${subject}--seed ${seed}`);
}
