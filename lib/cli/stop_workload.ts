/**
 * The hidden command `landfall stop-workload`, which the chart's hook runs before a release is uninstalled.
 *
 * Helm deletes workload and permissions together. A pod that stops may then no longer release its Lease, and the next
 * installation waits until the Lease expires. This command deletes the workload first and waits for its pods.
 * @module
 */
import { type Clock, systemClock, withDeadline } from "../core/clock.ts";
import { ConfigError, describeError } from "../core/errors.ts";
import { MetricsRegistry } from "../core/metrics.ts";
import { watchSignals } from "../host/signals.ts";
import { type KubeClient, readIfPresent } from "../kube/api/client.ts";
import { loadCredentials } from "../kube/credentials/mod.ts";
import { isKubeError } from "../kube/api/errors.ts";
import { createKubeClient } from "../kube/api/http_client.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { CommandContext } from "./command.ts";
import { VERSION } from "./version.ts";

/** A workload, and the Helm release that it must belong to. */
interface StopTarget {
  readonly kind: "daemonset" | "deployment";
  readonly namespace: string;
  readonly name: string;
  readonly release: string;
}

/** `stopped`: the pods are gone; else why they may still be there. */
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

/** Helm adds this annotation to what it installs, but not to what it only renders. */
const RELEASE = "meta.helm.sh/release-name";
/** Pods have 30 s to stop. A dead kubelet stops none, and the uninstall must continue. */
const STOP_MS = 60_000;
const ANSWER_MS = 10_000;
const POLL_MS = 500;

const OUTCOMES: Readonly<Record<StopOutcome, string>> = {
  stopped: "is deleted, and its pods are gone",
  absent: "does not exist",
  foreign: "does not belong to this Helm release, so it was not deleted",
  late: `still has pods after ${STOP_MS / 1_000} s: the next leader waits until the Lease expires`,
};

/**
 * Deletes a workload of a release and waits until its pods are gone, 60 s at most.
 *
 * @param argv Kind, namespace, name and release
 * @returns Exit code 0, even when it fails, which it reports: the uninstall must continue
 * @throws {ConfigError} when the arguments are wrong
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
 * Deletes a workload in the foreground, so that it exists until its pods are gone, and waits for that.
 *
 * @throws {KubeError} when the API server refuses a request
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
      // While the API server does not answer, the pods may still be there.
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

/** `undefined` when it does not exist. */
function readWorkload(
  client: KubeClient,
  { kind, namespace, name }: StopTarget,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return readIfPresent(client, RESOURCES[kind], { namespace, name }, signal);
}

function parseTarget(argv: readonly string[]): StopTarget {
  const [kind, namespace, name, release, ...more] = argv;
  const isWhole = namespace && name && release && more.length === 0;
  if (isWhole && (kind === "daemonset" || kind === "deployment")) {
    return { kind, namespace, name, release };
  }
  const message =
    "stop-workload needs four arguments: daemonset or deployment, namespace, name, release";
  throw new ConfigError([{ message }]);
}
