/**
 * What load balancers of CloudStack cost: many Services made at once, at rest, and when a Node leaves.
 * @module
 */
import type { Figures } from "../budgets.ts";
import { Controller } from "../controller.ts";
import { Simulators } from "../processes.ts";
import type { BalancerProgress, Progress } from "../simulators.ts";
import { DONE_MS, READY_MS, timeUntil, waitFor, waitForQuiet } from "../waiting.ts";
import { toNeededForLook, toNeededForMaking, toNeededForNode } from "./needed.ts";

/** How much of it. */
interface BalancersOptions {
  readonly binary: string;
  readonly services: number;
  /** Of each Service. */
  readonly ports: number;
  readonly nodes: number;
  readonly settleMs: number;
}

/** Jobs of one network run one after another. */
const MADE_MS = 1_800_000;
const POLL_MS = 500;
/** Of the process that is at rest: so often that a minute has some. */
const PERIOD_S = 15;
const REST_MS = 60_000;
const LULL_MS = 5_000;
const INVENTORY = "listVirtualMachines";
/** Each comparison lists all of them. */
const LIST = "listFirewallRules";

/** A controller that works for a cluster. */
interface Subject {
  readonly simulators: Simulators;
  readonly controller: Controller;
  readonly options: BalancersOptions;
}

/** What happened until a moment. */
interface Moment {
  readonly commands: ReadonlyMap<string, number>;
  readonly progress: Progress;
  readonly cpu: number;
}

/** Measures all of it on one cluster. */
export async function measureBalancers(options: BalancersOptions): Promise<Figures> {
  const { binary, nodes, settleMs } = options;
  await using simulators = await Simulators.start(nodes, "cloudstack");
  const { places } = simulators;
  let figures: Figures;
  {
    await using controller = await Controller.start({ binary, places });
    await controller.untilProbe("/readyz", READY_MS);
    await simulators.register();
    await waitFor(simulators, ({ initialised }) => initialised === nodes, DONE_MS);
    await waitForQuiet(simulators);
    await Bun.sleep(settleMs);
    const subject = { simulators, controller, options };
    const { resident } = await controller.readHoldings();
    const made = await measureMaking(subject);
    await Bun.sleep(settleMs);
    const { resident: withServices } = await controller.readHoldings();
    const moves = await measureNode(subject);
    figures = { ...made, servicesMore: withServices - resident, ...moves };
  }
  return { ...figures, ...(await measurePasses(simulators, options)) };
}

async function measureMaking(subject: Subject): Promise<Figures> {
  const { simulators, options } = subject;
  const { services: count, ports } = options;
  const before = await toMoment(subject);
  await simulators.createServices({ count, ports, hasNodePorts: true });
  const servicesMade = await timeUntil(simulators, ({ served }) => served === count, MADE_MS);
  await waitForQuiet(simulators);
  const after = await toMoment(subject);
  const servicesCalls = tell("made", before, after);
  const needed = toNeededForMaking({ services: count, ports, nodes: options.nodes });
  return {
    servicesMade,
    servicesCpu: after.cpu - before.cpu,
    servicesCalls,
    servicesCallsShare: servicesCalls / needed,
    servicesWrites: (after.progress.writes - before.progress.writes) / count,
  };
}

async function measureNode(subject: Subject): Promise<Figures> {
  const { simulators, options } = subject;
  const { services, ports } = options;
  const before = await toMoment(subject);
  await simulators.exclude(true);
  const servicesNodeLeaves = await timeUntilRules(simulators, (all) => all.rulesToFirst === 0);
  await simulators.exclude(false);
  const servicesNodeComes = await timeUntilRules(
    simulators,
    (all) => all.rulesToFirst === services * ports,
  );
  await waitForQuiet(simulators);
  const after = await toMoment(subject);
  const calls = tell("a Node left and came", before, after);
  return {
    servicesNodeLeaves,
    servicesNodeComes,
    servicesNodeShare: calls / (2 * toNeededForNode(options)),
    servicesNodeWrites: (after.progress.writes - before.progress.writes) / services,
  };
}

/** A new process on Services that have everything. */
async function measurePasses(simulators: Simulators, options: BalancersOptions): Promise<Figures> {
  const { binary } = options;
  const { cloudRequests } = await simulators.progress();
  const flags = [`--service-sync-period=${PERIOD_S}s`];
  await using controller = await Controller.start({ binary, places: simulators.places, flags });
  await controller.untilProbe("/readyz", READY_MS);
  // The first look asks about the stickiness of every rule; later ones do not.
  await waitForLull(simulators);
  const subject = { simulators, controller, options };
  const before = await toMoment(subject);
  await Bun.sleep(REST_MS);
  await waitForLull(simulators);
  const after = await toMoment(subject);
  const pages = Math.ceil((options.services * options.ports) / 500);
  const passes = (count(after, LIST) - count(before, LIST)) / pages;
  const servicesPass = tell("at rest", before, after) / passes;
  return {
    servicesRestart: before.progress.cloudRequests - cloudRequests,
    servicesPass,
    servicesPassShare: servicesPass / toNeededForLook(options),
    servicesPassWrites: after.progress.writes - before.progress.writes,
    servicesPassCpu: (after.cpu - before.cpu) / passes,
  };
}

/** Waits until a look that runs is over: no requests but those of inventories for a while. */
async function waitForLull(simulators: Simulators): Promise<void> {
  let last = -1;
  let sinceMs = performance.now();
  while (performance.now() - sinceMs < LULL_MS) {
    const { commands } = await simulators.balancers();
    const asked = sum(Object.entries(commands).filter(([command]) => command !== INVENTORY));
    if (asked !== last) sinceMs = performance.now();
    last = asked;
    await Bun.sleep(POLL_MS);
  }
}

async function toMoment({ simulators, controller }: Omit<Subject, "options">): Promise<Moment> {
  const { commands } = await simulators.balancers();
  const progress = await simulators.progress();
  const cpu = await controller.readCpu();
  return { commands: new Map(Object.entries(commands)), progress, cpu };
}

function count({ commands }: Moment, command: string): number {
  return commands.get(command) ?? 0;
}

/** Says which requests there were between two moments, and how many without those of inventories. */
function tell(what: string, before: Moment, after: Moment): number {
  const made = [...after.commands.keys()]
    .toSorted()
    .map((command) => [command, count(after, command) - count(before, command)] as const)
    .filter(([command, times]) => times > 0 && command !== INVENTORY);
  console.error(`${what}: ${made.map(([command, times]) => `${times} ${command}`).join(", ")}`);
  return sum(made);
}

function sum(counts: readonly (readonly [command: string, times: number])[]): number {
  return counts.reduce((total, [, times]) => total + times, 0);
}

async function timeUntilRules(
  simulators: Simulators,
  isSo: (all: BalancerProgress) => boolean,
): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < MADE_MS) {
    if (isSo(await simulators.balancers())) return (performance.now() - startMs) / 1_000;
    await Bun.sleep(POLL_MS);
  }
  return Infinity;
}
