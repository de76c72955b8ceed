/**
 * A watcher on a scripted API server, and short ways to write the script.
 * @module
 */
import { silentLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import type { WatchEvent } from "../../../../lib/kube/api/client.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { type Node, NODES } from "../../../../lib/kube/kinds/node.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import {
  createWatcherMetrics,
  runWatcher,
  type WatcherMetrics,
} from "../../../../lib/kube/cache/watcher.ts";
import { ManualClock } from "../../manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep, type WatchPart } from "../scripted_kube_client.ts";
import { Recovery } from "../../../../lib/kube/api/request.ts";

/** The ERROR event of a version that was compacted. */
export const gone: WatchEvent = {
  type: "ERROR",
  object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" },
};
/** The same as an answer to a request. */
export const compacted: ScriptStep = { fail: new KubeError("gone", "compacted", { code: 410 }) };
/** Nobody listens. */
export const refused: KubeError = new KubeError("unavailable", "the connection was refused");

/** A Node `name` whose state is known by its resourceVersion. */
export function toNode(name: string, resourceVersion: string): Node {
  const uid = `uid-${name}`;
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid, resourceVersion } };
}

/** An event about the Node `name`. */
export function toEvent(type: string, name: string, resourceVersion: string): WatchEvent {
  return { type, object: toNode(name, resourceVersion) };
}

/** A bookmark. */
export function bookmark(resourceVersion: string): WatchEvent {
  return { type: "BOOKMARK", object: { kind: "Node", metadata: { resourceVersion } } };
}

/** A list of Nodes with one-letter names. */
export function list(names: string, resourceVersion: string): ScriptStep {
  return { page: { items: [...names].map((name) => toNode(name, "1")), resourceVersion } };
}

/** A watch of these parts, which then ends cleanly. */
export function watch(...parts: WatchPart[]): ScriptStep {
  return { watch: parts };
}

/** A running watcher and what it works on. */
export interface WatcherRig {
  readonly client: ScriptedKubeClient;
  readonly clock: ManualClock;
  readonly store: Store<Node>;
  readonly metrics: WatcherMetrics;
  readonly recovery: Recovery;
  /** What a listener heard, as `+name`, `~name`, `-name@version of the last state`. */
  readonly told: string[];
  stop(): Promise<void>;
}

/** Starts a watcher without jitter on this script. */
export function startWatcher(script: readonly ScriptStep[]): WatcherRig {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock, script);
  const store = new Store<Node>({ resource: NODES, log: silentLogger, clock });
  const told: string[] = [];
  store.subscribe((key, before, after) => {
    if (after === undefined) told.push(`-${key}@${before?.metadata.resourceVersion}`);
    else told.push(`${before === undefined ? "+" : "~"}${key}`);
  });
  const metrics = createWatcherMetrics(new MetricsRegistry());
  const controller = new AbortController();
  const recovery = new Recovery();
  const options = { client, resource: NODES, store, clock, log: silentLogger, metrics, recovery };
  const running = runWatcher({ ...options, random: () => 0 }, controller.signal);
  const stop = (): Promise<void> => {
    controller.abort(new Error("stop"));
    return running;
  };
  return { client, clock, store, metrics, recovery, told, stop };
}
