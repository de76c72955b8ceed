/**
 * Composition root: wires the chosen controllers to an API server and, if they need one, a cloud. Runs them until it is
 * stopped.
 * @module
 */
import { type Announcer, PROCESS_EVENTS } from "./announcer.ts";
import { reportUnknownKeys } from "./unknown_keys.ts";
import type { AppOptions } from "./options.ts";
import { createParts, type ElectedGroup, type Parts } from "./parts.ts";
import { followSettings } from "./reload.ts";
import { startListeners } from "./serving/listeners.ts";
import { supervise } from "./supervision.ts";
import type { Presence } from "../cloud/provider.ts";
import type { NodeCloud } from "../controllers/node_context.ts";
import { abortable, startDeadline } from "../core/clock.ts";
import { describeError } from "../core/errors.ts";
import { type Gauge, type MetricsRegistry, setCounts } from "../core/metrics.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import { type Node } from "../kube/kinds/node.ts";

/** How long HTTP requests may take to end after everything else has stopped. */
const HTTP_GRACE_MS = 1_000;
/** How long the first lists wait for an API server that is slow to answer about a Lease. */
const FIRST_TRY_MS = 2_000;

/**
 * Runs until the signal aborts and running work has ended. With an election the controllers wait for leadership. The
 * watches and the inventory start at once, so that a new leader can act immediately.
 *
 * @throws {LeadershipLostError} when another process may lead now: the caller ends this process
 * @throws {ConfigError} when it cannot listen at an address
 */
export async function runApp(options: AppOptions, signal: AbortSignal): Promise<void> {
  const parts = createParts(options);
  const { cloud, controllers } = parts;
  const { notifier } = options;
  const servers = await startListeners(options, parts, signal);
  // The watch, the inventory and Events stop last, because controllers need them to finish.
  const background = new AbortController();
  const running = createRunningMetric(options.metrics);
  if (cloud) exportInstances(options.metrics, cloud.nodes, (node) => cloud.presences.find(node));
  for (const { controller } of controllers) controller.standBy?.();
  const ending = AbortSignal.any([signal, background.signal]);
  const supervised = notifier && supervise(notifier, options, parts, ending);
  const work = async (group: ElectedGroup, stop: AbortSignal): Promise<void> => {
    supervised?.notice();
    const end = reportUnknownKeys(group.controllers, cloud?.nodes, parts.events);
    await runControllers(group.controllers, running, stop).finally(end);
  };
  const leading = runGroups(parts.groups, work, signal);
  const loops = runBackground(options, parts, background.signal);
  try {
    await Promise.race([leading, loops]);
  } finally {
    background.abort(signal.reason);
    const stopping = servers.map((server) => server.stop(HTTP_GRACE_MS));
    await Promise.allSettled([loops, supervised?.ended, ...stopping]);
    options.client.close();
    options.election?.client.close();
  }
}

/**
 * Runs what controllers need: the watches, the inventory, Events. Ends only by the signal.
 *
 * The first lists wait for the first try to lead. A leader needs lists that are younger than its leadership, and would
 * have to list everything twice.
 */
async function runBackground(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { cloud, caches, events } = parts;
  const { announcer, configuration } = options;
  if (cloud && announcer) announceFirstFailure(cloud, announcer);
  await Promise.all([
    configuration && followSettings(configuration, options, parts, signal),
    cloud?.source.run(signal),
    untilTried(parts, options, signal).then(() => caches.run(signal)),
    events.run(signal),
  ]);
}

/** Never throws: while the API server does not answer, the caches report it. */
async function untilTried(
  { electors }: Parts,
  { clock }: AppOptions,
  signal: AbortSignal,
): Promise<void> {
  if (electors.length === 0) return;
  using deadline = startDeadline(signal, FIRST_TRY_MS, clock);
  const tried = Promise.all(electors.map((elector) => elector.firstTry));
  await abortable(tried, deadline.signal).catch(() => undefined);
}

/**
 * Runs the work of each group while this process holds its Lease. If one group loses its Lease or breaks, the others
 * end in order, and give back their Leases.
 */
async function runGroups(
  groups: readonly ElectedGroup[],
  work: (group: ElectedGroup, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const works = groups.map((group) => async (stop: AbortSignal) => {
    const { elector } = group;
    if (elector === undefined) await work(group, stop);
    else await elector.run((ended) => work(group, ended), stop);
  });
  // Not the error itself: another group still leads, and has time to finish.
  await runTogether(works, (cause) => new Error("the process ends", { cause }), signal);
}

async function runControllers(
  controllers: Parts["controllers"],
  running: Gauge,
  signal: AbortSignal,
): Promise<void> {
  for (const { definition } of controllers) {
    running.set(1, { name: definition.name, manager: "cloud-controller-manager" });
  }
  // Without controllers the process still serves its pages.
  if (controllers.length === 0) return await untilAborted(signal);
  const works = controllers.map(
    ({ controller }) =>
      (stop: AbortSignal) =>
        controller.run(stop),
  );
  await runTogether(works, (error) => error, signal);
}

/**
 * Runs all until they have ended. After the first failure the signal of the others aborts, and the failure is thrown.
 *
 * @param toReason Why the signal of the others aborts
 */
async function runTogether(
  works: readonly ((stop: AbortSignal) => Promise<void>)[],
  toReason: (failure: unknown) => unknown,
  signal: AbortSignal,
): Promise<void> {
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  const failures: unknown[] = [];
  const note = (failure: unknown): void => {
    failures.push(failure);
    broken.abort(toReason(failure));
  };
  await Promise.all(works.map((work) => work(stop).catch(note)));
  if (failures.length > 0) throw failures[0];
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return abortable(new Promise<never>(() => {}), signal).catch(() => undefined);
}

/** Announces it once if the first refresh of the inventory fails. */
function announceFirstFailure({ source, provider }: NodeCloud, announcer: Announcer): void {
  const stop = source.subscribe(() => {
    stop();
    const { lastError } = source;
    if (lastError === undefined) return;
    const message = `Failed to check ${provider.name} client: ${describeError(lastError)}`;
    announcer.announce(PROCESS_EVENTS.checkFailed, message);
  });
}

/** Registers `running_managed_controllers`, the upstream gauge that is 1 for each controller that runs. */
export function createRunningMetric(metrics: MetricsRegistry): Gauge {
  return metrics.gauge({
    name: "running_managed_controllers",
    help: "1 for each controller that runs in this process.",
  });
}

const PRESENCES: readonly Presence["kind"][] = ["present", "absent", "unknown", "foreign"];

/** Registers `landfall_instances`: the number of Nodes by presence. Counts when the metrics are read. */
export function exportInstances(
  metrics: MetricsRegistry,
  nodes: StoreReader<Node>,
  find: (node: Node) => Presence,
): void {
  const instances = metrics.gauge({
    name: "landfall_instances",
    help: "Nodes by the presence of their instances: present, absent, unknown or foreign.",
  });
  metrics.onCollect(() => {
    const found = Array.from(nodes.values(), (node) => find(node).kind);
    setCounts(instances, "presence", found, PRESENCES);
  });
}
