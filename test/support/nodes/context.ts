/**
 * What a controller of Nodes lives on in a test: everything that is not said is made new.
 * @module
 */
import { InstanceResolver } from "../../../lib/cloud/inventory/resolver.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { type NodeContext, NodePresences } from "../../../lib/controllers/node_context.ts";
import type { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createLoopMetrics } from "../../../lib/engine/work_queue.ts";

/** What a test gives to controllers of Nodes. */
interface NodeContextParts extends Pick<
  NodeContext,
  "client" | "nodes" | "provider" | "events" | "clock" | "log" | "workers"
> {
  readonly metrics: MetricsRegistry;
}

/** Creates a context with an inventory source that does not run yet. */
export function createNodeContext({ metrics, ...given }: NodeContextParts): NodeContext {
  const { provider, clock, log } = given;
  const source = new InventorySource({ provider, interest: () => [], clock, log, metrics });
  const resolver = new InstanceResolver(provider, source, clock);
  return {
    ...given,
    source,
    resolver,
    presences: new NodePresences(resolver, source),
    loopMetrics: createLoopMetrics(metrics),
  };
}
