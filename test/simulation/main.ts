/**
 * Runs the simulation from the command line: `npm run simulate -- --seed 7`.
 *
 * The simulation is deterministic: the whole program, twice, in a world made of one seed.
 *
 * Everything is real from the composition root to the edge of the sockets: the controllers, the election, the clients,
 * the provider. In the place of the outside stand an API server, a cloud and a network in memory, on one
 * timeline, with one source of chance. A seed draws what happens; {@linkcode Invariants} judges each request as it is
 * sent and each change as it is made; in the end all faults stop, and everything must come right within a bounded time.
 *
 * | file | what it is |
 * |---|---|
 * | story.ts | one seed from its beginning to its end |
 * | world/ | everything a story happens to, whatever the cloud; cloud.ts is what it needs of one |
 * | xenorchestra/, cloudstack/ | the clouds: what may happen to each, what is true in it, what proves absence there |
 * | cloudstack/services/ | Services of type LoadBalancer: what people do to them and beside them, and their judges |
 * | sipcluster/ | SIPClusters: stories of their own with hosts, metal3 and Cluster API, and crashes at each write |
 * | vino/ | Vinos: stories of their own with a Xen Orchestra that makes VMs, metal3, Ironic and Cluster API |
 * | scenarios/ | stories with a name and fixed steps in the place of drawn ones |
 * | steps/ | what may happen to Nodes, the API server, processes, networks and settings |
 * | judges/ | what must never happen, what a process may honestly believe, and what must be true in the end |
 * | timeline.ts, trace.ts | time, and what happened |
 *
 * A seed is many short things, none of them hot: the profile is flat, and a fifth of the processor time of a thousand
 * seeds was the last tier of the compiler (FTL), which does not pay for itself in two minutes: `npm test` goes without.
 * @module
 */
import { type FlagRange, readFlagNumber, readFlags } from "../support/command_flags.ts";
import { describeFailure, type Ending } from "./ending.ts";
import * as cloudstack from "./scenarios/cloudstack/mod.ts";
import { findTelling, type Telling, type Wanted } from "./scenarios/scenario.ts";
import * as services from "./scenarios/services/mod.ts";
import * as sipclusters from "./scenarios/sipclusters.ts";
import * as vinos from "./scenarios/vinos/mod.ts";
import * as xenorchestra from "./scenarios/xenorchestra/mod.ts";
import { runSipStory } from "./sipcluster/story.ts";
import { runStory } from "./story.ts";
import { runVinoStory } from "./vino/story.ts";

const USAGE = `Usage: npm run simulate -- [options]

  --seed N      that seed, with everything that happened in it; with --count or --minutes, the first of several
                (default: one that nobody ran before, and 1000 from there on)
  --count K     so many seeds
  --minutes M   as many seeds as there is time for
  --sipclusters stories of SIPClusters
  --vinos       stories of Vinos; without either, of Nodes and Services
  --scenario NAME
                that scenario, with everything that happened in it; the end of its name after a slash is enough, or
                any part that no other name has. Those of Services and SIPClusters can have a crash point at the end:
                @before-7, @after-7
  --scenarios   names of all scenarios
`;
/** All named scenarios: each way to tell each of them. */
const TELLINGS: readonly Telling[] = [
  xenorchestra,
  cloudstack,
  services,
  vinos,
  sipclusters,
].flatMap((one) => one.TELLINGS);
const SEED_COUNT = 2 ** 32;
const SEEDS: FlagRange = { min: 0, max: SEED_COUNT - 1 };
/** Flags that say what is told. */
const KINDS = ["scenarios", "scenario", "vinos", "sipclusters"] as const;
const REPORT_EVERY_MS = 10_000;

/** What is wanted; `minutes` may be without an end. */
type Order =
  | { readonly names: readonly string[] }
  | Wanted
  | { readonly run: Run; readonly seed: number }
  | ({ readonly run: Run } & Many);

interface Many {
  readonly first: number;
  readonly count: number;
  readonly minutes: number;
}

type Run = (seed: number) => Promise<Ending>;

process.exitCode = await main();

async function main(): Promise<number> {
  const order = readOrder();
  if ("names" in order) {
    console.log(order.names.join("\n"));
    return 0;
  }
  if ("telling" in order) return show(await order.telling.tell(order.point));
  if ("seed" in order) return show(await order.run(order.seed));
  return await runMany(order);
}

function readOrder(): Order {
  const options = {
    seed: { type: "string" },
    count: { type: "string" },
    minutes: { type: "string" },
    sipclusters: { type: "boolean" },
    vinos: { type: "boolean" },
    scenario: { type: "string" },
    scenarios: { type: "boolean" },
  } as const;
  return readFlags<typeof options, Order>(USAGE, options, ({ count, minutes, ...values }) => {
    const kinds = KINDS.filter((kind) => values[kind] !== undefined);
    if (kinds.length > 1) throw new Error(`only one of --${kinds.join(", --")} at a time`);
    if (values.scenarios) return { names: TELLINGS.map(({ name }) => name) };
    if (values.scenario !== undefined) {
      if ((values.seed ?? count ?? minutes) !== undefined)
        throw new Error("--scenario cannot be combined with --seed, --count or --minutes");
      return findTelling(TELLINGS, values.scenario);
    }
    const run = values.vinos ? runVinoStory : values.sipclusters ? runSipStory : runStory;
    const seed = readFlagNumber("--seed", values.seed ?? String(Date.now() % SEED_COUNT), SEEDS);
    if (values.seed !== undefined && (count ?? minutes) === undefined) return { run, seed };
    return {
      run,
      first: seed,
      count: readFlagNumber("--count", count ?? String(minutes === undefined ? 1_000 : SEED_COUNT)),
      minutes: readFlagNumber("--minutes", minutes ?? "Infinity", { fraction: true }),
    };
  });
}

/** Shows all that happened, whether all is well or not. Returns the exit code. */
function show(ending: Ending): number {
  console.log(ending.trace.join("\n"));
  console.log(`${ending.replay}, trace ${ending.hash.slice(0, 16)}`);
  for (const violation of ending.violations) console.log(`BROKEN: ${violation}`);
  return ending.violations.length === 0 ? 0 : 1;
}

async function runMany({ run, first, count, minutes }: Many & { run: Run }): Promise<number> {
  const startedMs = performance.now();
  const untilMs = startedMs + minutes * 60_000;
  let reportMs = startedMs + REPORT_EVERY_MS;
  let virtualMs = 0;
  for (let done = 0; ;) {
    const ending = await run((first + done) % SEED_COUNT);
    done += 1;
    virtualMs += ending.virtualMs;
    if (ending.violations.length > 0) {
      console.log(describeFailure(ending));
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
