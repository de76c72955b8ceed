/**
 * `npm run bench:sipcluster`: how long it takes to choose the hosts of a cluster, without a compiler as in the program.
 * @module
 */
import type { NodeSet } from "../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { schedule } from "../../lib/controllers/sipcluster/schedule/schedule.ts";
import type { HostFacts, ScheduleInput } from "../../lib/controllers/sipcluster/schedule/types.ts";
import { Random } from "../../test/support/random.ts";
import { alignColumns } from "../budgets.ts";
import { describeMachine } from "../meters/machine.ts";
import { toQuantile } from "../meters/statistics.ts";

const HOSTS = 10_000;
const ROUNDS = 30;
/** Of a decision, in processor time. */
const BUDGET_MS = 50;

/** A cluster, and a pool of hosts. */
interface Case {
  readonly title: string;
  /** How many values each topology label has. */
  readonly labels: Readonly<Record<string, number>>;
  /** Hosts that each role wants. */
  readonly wants: readonly [number, number];
  /** Whether each role has hosts of its own. @default {false} */
  readonly isApart?: boolean;
  /** @default {false} */
  readonly spreadAcrossRoles?: boolean;
  /** Beyond what real clusters ask for: it must end, and its time is shown. @default {false} */
  readonly isExtreme?: boolean;
}

const CASES: readonly Case[] = [
  { title: "has all it wants", labels: { rack: 300 }, wants: [0, 0] },
  { title: "racks", labels: { rack: 300 }, wants: [3, 100], isApart: true },
  {
    title: "racks and servers",
    labels: { rack: 300, server: 2_500 },
    wants: [3, 100],
    isApart: true,
  },
  { title: "roles share hosts", labels: { rack: 300 }, wants: [3, 200] },
  { title: "too few racks", labels: { rack: 300 }, wants: [3, 301] },
  { title: "too few servers", labels: { server: 2_500 }, wants: [2_000, 100], isApart: true },
  {
    title: "last rack, over roles",
    labels: { rack: 300 },
    wants: [100, 200],
    spreadAcrossRoles: true,
  },
  { title: "racks that cross feeds", labels: { rack: 100, feed: 100 }, wants: [0, 100] },
  {
    title: "racks that cross feeds and rooms, none to spare",
    labels: { rack: 300, feed: 300, room: 300 },
    wants: [100, 300],
    isExtreme: true,
  },
];

function toInput({
  labels,
  wants,
  isApart = false,
  spreadAcrossRoles = false,
}: Case): ScheduleInput {
  const random = new Random(5);
  const toSet = (active: number, flavor: string): NodeSet => ({
    topologyKeys: Object.keys(labels),
    count: { active },
    ...(isApart && { labelSelector: { matchLabels: { flavor } } }),
  });
  const hosts = Array.from({ length: HOSTS }, (_, at): HostFacts => {
    const places = Object.entries(labels).map(([key, values]) => [
      key,
      `${random.between(1, values)}`,
    ]);
    const flavor = random.chance(0.1) ? "control-plane" : "worker";
    const name = `host-${String(at).padStart(5, "0")}`;
    return {
      key: `metal/${name}`,
      labels: { ...Object.fromEntries(places), flavor, name },
      isInUse: false,
    };
  });
  const nodes = {
    ControlPlane: toSet(wants[0], "control-plane"),
    Worker: toSet(wants[1], "worker"),
  };
  return { cluster: "tenant/one", nodes, scheduling: { spreadAcrossRoles }, hosts };
}

/** The median and the slowest of several rounds, in ms of processor time. */
function measure(input: ScheduleInput): { readonly medianMs: number; readonly slowestMs: number } {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = process.cpuUsage();
    schedule(input);
    return process.cpuUsage(start).user / 1_000;
  });
  return { medianMs: toQuantile(times, 0.5), slowestMs: Math.max(...times) };
}

console.log(`${describeMachine()}, ${HOSTS.toLocaleString("en")} free hosts\n`);
let isOver = false;
const rows = CASES.map((one) => {
  const input = toInput(one);
  const { isSatisfied, isProven } = schedule(input);
  const { medianMs, slowestMs } = measure(input);
  const isSlow = one.isExtreme !== true && medianMs > BUDGET_MS;
  isOver ||= isSlow;
  const answer = isSatisfied ? "found" : isProven ? "impossible" : "ended at its limit";
  const budget = one.isExtreme === true ? "-" : isSlow ? "OVER" : `${BUDGET_MS}`;
  return [one.title, answer, medianMs.toFixed(1), slowestMs.toFixed(1), budget];
});
console.log(alignColumns([["a decision", "answer", "median ms", "slowest ms", "budget"], ...rows]));
process.exit(isOver ? 1 : 0);
