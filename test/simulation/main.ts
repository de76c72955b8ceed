/**
 * Runs the simulation from the command line: `npm run simulate -- --seed 7`.
 * @module
 */
import { parseArgs } from "node:util";
import { type Ending, runStory } from "./mod.ts";

const USAGE = `Usage: npm run simulate -- [options]

  --seed N      one seed, with everything that happened in it
  --from N      the first of several seeds (default: one that nobody ran before)
  --count K     how many (default: 1000; without an end if --minutes is given)
  --minutes M   stops after that time
`;
/** So much of a trace is shown of a seed that fails among others. */
const TAIL_LINES = 80;
const SEED_MAX = 2 ** 32;
const REPORT_EVERY_MS = 10_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      from: { type: "string" },
      count: { type: "string" },
      minutes: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.seed !== undefined) return await runOne(toNumber(values.seed));
  const from = toNumber(values.from ?? String(Date.now() % SEED_MAX));
  const minutes = values.minutes === undefined ? Infinity : toNumber(values.minutes);
  const count = toNumber(values.count ?? (minutes === Infinity ? "1000" : String(SEED_MAX)));
  return await runMany(from, count, performance.now() + minutes * 60_000);
}

async function runOne(seed: number): Promise<number> {
  const ending = await runStory(seed);
  console.log(ending.trace.join("\n"));
  console.log(`seed ${seed}, trace ${ending.hash.slice(0, 16)}`);
  for (const violation of ending.violations) console.log(`BROKEN: ${violation}`);
  return ending.violations.length === 0 ? 0 : 1;
}

async function runMany(from: number, count: number, untilMs: number): Promise<number> {
  const startedMs = performance.now();
  let reportMs = startedMs + REPORT_EVERY_MS;
  let virtualMs = 0;
  for (let done = 0; done < count && performance.now() < untilMs;) {
    const ending = await runStory((from + done) % SEED_MAX);
    done += 1;
    virtualMs += ending.virtualMs;
    if (ending.violations.length > 0) {
      tellFailure(ending);
      return 1;
    }
    const nowMs = performance.now();
    if (nowMs < reportMs && done < count) continue;
    reportMs = nowMs + REPORT_EVERY_MS;
    const perSecond = (done / ((nowMs - startedMs) / 1_000)).toFixed(1);
    const hours = (virtualMs / 3_600_000).toFixed(1);
    console.log(`${done} seeds from ${from} on, ${perSecond} a second, ${hours} hours of theirs`);
  }
  return 0;
}

function tellFailure({ seed, trace, violations }: Ending): void {
  console.log(trace.slice(-TAIL_LINES).join("\n"));
  for (const violation of violations) console.log(`BROKEN: ${violation}`);
  console.log(`npm run simulate -- --seed ${seed}`);
}

function toNumber(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new Error(`Cannot use "${text}": a number`);
  return number;
}
