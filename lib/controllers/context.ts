/**
 * What a controller is given to live on.
 * @module
 */
import { assert } from "../core/assert.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { ControllerMetrics } from "../engine/controller.ts";
import type { WorkQueueMetrics } from "../engine/work_queue_metrics.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { FlagValues } from "./flags.ts";
import type { NodeContext } from "./node_loop.ts";

/** Nodes and the cloud that their machines are in. All controllers of a process share it. */
export type NodeCloud = Pick<
  NodeContext,
  "nodes" | "provider" | "source" | "resolver" | "presences" | "written" | "workers"
>;

/** What a controller lives on. */
export interface ControllerContext {
  /** Writes only while this process may act. */
  readonly client: KubeClient;
  /** Speaks as the controller's component. */
  readonly events: EventRecorder;
  readonly flags: FlagValues;
  readonly clock: Clock;
  readonly log: Logger;
  /** For metrics of its own. */
  readonly metrics: MetricsRegistry;
  readonly queueMetrics: WorkQueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  /** There for a controller that needs a cloud. */
  readonly cloud?: NodeCloud;
}

/** What a controller of Nodes lives on. */
export function toNodeContext({ cloud, ...context }: ControllerContext): NodeContext {
  assert(cloud !== undefined, "a controller of Nodes says that it needs a cloud");
  return { ...context, ...cloud };
}
