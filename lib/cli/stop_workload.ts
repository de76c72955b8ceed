/**
 * The hidden command `landfall stop-workload`, which the chart's hook runs before a release is uninstalled.
 *
 * Helm deletes workload and rights in one go, so that a pod that is told to stop may no longer give its Lease back, and
 * whoever is installed next waits until that has run out. This deletes the workload first and waits for its pods.
 * @module
 */
import { type Clock, systemClock, withDeadline } from "../core/clock.ts";
import { ConfigError, describeError } from "../core/errors.ts";
import { MetricsRegistry } from "../core/metrics.ts";
import { watchSignals } from "../host/signals.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { loadCredentials } from "../kube/credentials/mod.ts";
import { isKubeError } from "../kube/api/errors.ts";
import { createKubeClient } from "../kube/api/http_client.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { CommandContext } from "./command.ts";
import { VERSION } from "./version.ts";

/** A workload, and the release of Helm that it must be of. */
export interface StopTarget {
  readonly kind: "daemonset" | "deployment";
  readonly namespace: string;
  readonly name: string;
  readonly release: string;
}

/** How a stop went: `stopped` when the pods are gone, else why they may not be. */
export type StopOutcome = "stopped" | "absent" | "foreign" | "late";

const RESOURCES: Readonly<Record<StopTarget["kind"], Resource<KubeObject>>> = {
  daemonset: {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    plural: "daemonsets",
    namespaced: true,
  },
  deployment: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    namespaced: true,
  },
};

/** What Helm writes on what it installs. What was rendered and then applied has none. */
const RELEASE = "meta.helm.sh/release-name";
/** Pods have 30 s to end. A kubelet that is gone ends none, and an uninstall goes on without them. */
const STOP_MS = 60_000;
const ANSWER_MS = 10_000;
const POLL_MS = 500;

const OUTCOMES: Readonly<Record<StopOutcome, string>> = {
  stopped: "is gone, and its pods with it",
  absent: "is not there",
  foreign: "is not of this release of Helm: it is left alone",
  late: `still has pods after ${STOP_MS / 1_000} s: whoever comes next waits until the Lease has run out`,
};

/**
 * Deletes a workload of a release and waits until its pods are gone, 60 s at most.
 *
 * @param argv Kind, namespace, name and release
 * @returns Exit code 0, also when it could not be done, which is said: an uninstall is not held up
 * @throws {ConfigError} when the arguments are not these
 */
export async function stopWorkload(
  argv: readonly string[],
  { env, print, complain }: CommandContext,
): Promise<number> {
  const target = parseTarget(argv);
  const what = `${target.kind} ${target.namespace}/${target.name}`;
  using stop = watchSignals();
  try {
    const clock = systemClock;
    const credentials = await loadCredentials({ env, clock });
    const metrics = new MetricsRegistry();
    const options = { credentials, clock, metrics, version: VERSION, deadlineMs: ANSWER_MS };
    const client = createKubeClient(options);
    try {
      const outcome = await deleteAndWait(client, target, { clock, signal: stop.signal });
      print(`${what} ${OUTCOMES[outcome]}\n`);
    } finally {
      client.close();
    }
  } catch (error) {
    complain(`landfall: Cannot stop ${what}: ${describeError(error)}\n`);
  }
  return 0;
}

/**
 * Deletes a workload in the foreground, so that it is there until its pods are gone, and waits for that.
 *
 * @throws {KubeError} when it may not be read or deleted
 * @throws the signal's reason
 */
export async function deleteAndWait(
  client: KubeClient,
  target: StopTarget,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<StopOutcome> {
  const deadline = withDeadline(signal, STOP_MS, clock);
  const found = await readWorkload(client, target, deadline);
  if (found === undefined) return "absent";
  const { uid, annotations } = found.metadata;
  if (uid === undefined || annotations?.[RELEASE] !== target.release) return "foreign";
  const { kind, namespace, name } = target;
  try {
    const options = { uid, propagationPolicy: "Foreground" } as const;
    await client.delete(RESOURCES[kind], { namespace, name }, options, deadline);
    for (;;) {
      // An API server that does not answer for a moment says nothing about pods.
      const left = await readWorkload(client, target, deadline).catch(() => found);
      if (left?.metadata.uid !== uid) return "stopped";
      await clock.sleep(POLL_MS, deadline);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted) return "late";
    if (isKubeError(error, "notFound")) return "stopped";
    throw error;
  }
}

/** Nothing when it is not there. */
async function readWorkload(
  client: KubeClient,
  { kind, namespace, name }: StopTarget,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.read(RESOURCES[kind], { namespace, name }, signal);
  } catch (error) {
    if (isKubeError(error, "notFound")) return undefined;
    throw error;
  }
}

function parseTarget(argv: readonly string[]): StopTarget {
  const [kind, namespace, name, release, ...more] = argv;
  const isWhole = namespace && name && release && more.length === 0;
  if (isWhole && (kind === "daemonset" || kind === "deployment")) {
    return { kind, namespace, name, release };
  }
  const message = "stop-workload wants daemonset or deployment, a namespace, a name and a release";
  throw new ConfigError([{ message }]);
}
