/**
 * Runs the simulation from the command line: `npm run simulate -- --seed 7`.
 * @module
 */
import { type FlagRange, readFlagNumber, readFlags } from "../support/command_flags.ts";
import { type Ending, runStory } from "./mod.ts";

const USAGE = `Usage: npm run simulate -- [options]

  --seed N      that seed, with everything that happened in it; with --count or --minutes, the first of several
                (default: one that nobody ran before, and 1000 from there on)
  --count K     so many seeds
  --minutes M   as many seeds as there is time for
`;
/** So much of a trace is shown of a seed that fails among others. */
const TAIL_LINES = 80;
const SEED_COUNT = 2 ** 32;
const SEEDS: FlagRange = { min: 0, max: SEED_COUNT - 1 };
const REPORT_EVERY_MS = 10_000;

/** What is wanted; `minutes` may be without an end. */
type Order =
  | { readonly seed: number }
  | { readonly first: number; readonly count: number; readonly minutes: number };

process.exitCode = await main();

async function main(): Promise<number> {
  const order = readOrder();
  if ("seed" in order) return await runOne(order.seed);
  return await runMany(order.first, order.count, performance.now() + order.minutes * 60_000);
}

function readOrder(): Order {
  const options = {
    seed: { type: "string" },
    count: { type: "string" },
    minutes: { type: "string" },
  } as const;
  return readFlags(USAGE, options, ({ count, minutes, ...values }) => {
    const seed = readFlagNumber("--seed", values.seed ?? String(Date.now() % SEED_COUNT), SEEDS);
    if (values.seed !== undefined && (count ?? minutes) === undefined) return { seed };
    return {
      first: seed,
      count: readFlagNumber("--count", count ?? String(minutes === undefined ? 1_000 : SEED_COUNT)),
      minutes: readFlagNumber("--minutes", minutes ?? "Infinity", { fraction: true }),
    };
  });
}

async function runOne(seed: number): Promise<number> {
  const ending = await runStory(seed);
  console.log(ending.trace.join("\n"));
  console.log(`seed ${seed}, trace ${ending.hash.slice(0, 16)}`);
  for (const violation of ending.violations) console.log(`BROKEN: ${violation}`);
  return ending.violations.length === 0 ? 0 : 1;
}

async function runMany(first: number, count: number, untilMs: number): Promise<number> {
  const startedMs = performance.now();
  let reportMs = startedMs + REPORT_EVERY_MS;
  let virtualMs = 0;
  for (let done = 0; ;) {
    const ending = await runStory((first + done) % SEED_COUNT);
    done += 1;
    virtualMs += ending.virtualMs;
    if (ending.violations.length > 0) {
      tellFailure(ending);
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

function tellFailure({ seed, trace, violations }: Ending): void {
  console.log(trace.slice(-TAIL_LINES).join("\n"));
  for (const violation of violations) console.log(`BROKEN: ${violation}`);
  console.log(`npm run simulate -- --seed ${seed}`);
}
