/**
 * The dependencies that a controller gets.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { Provider } from "../cloud/provider.ts";
import type { SettingsSection } from "../cloud/settings/schema.ts";
import { assert } from "../core/errors.ts";
import type { Fence } from "../core/fence.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { LoopContext } from "../engine/object_loop.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { Caches } from "../kube/cache/caches.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { DeletionHolds } from "./deletion_holds.ts";
import type { FlagValues } from "./flags.ts";
import type { NodePresences } from "./node_presences.ts";

/** The dependencies of every controller of Nodes. */
export interface NodeContext extends LoopContext {
  readonly client: KubeClient;
  readonly nodes: StoreReader<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly resolver: InstanceResolver;
  readonly presences: NodePresences;
  readonly events: EventRecorder;
  /** How many Nodes each controller works on at once. */
  readonly workers: number;
  /** Why Nodes may not be deleted yet. @default {no reasons are collected} */
  readonly holds?: DeletionHolds;
}

/** The Nodes and their cloud. All controllers of a process share them. */
export type NodeCloud = Pick<
  NodeContext,
  "nodes" | "provider" | "source" | "resolver" | "presences" | "workers" | "holds"
>;

/**
 * The dependencies of a controller.
 *
 * @typeParam S Type of the settings of its section
 */
export interface ControllerContext<S = unknown> extends LoopContext {
  /** Writes only while this process may act. */
  readonly client: KubeClient;
  /** The same check, for capabilities of a cloud that take it: it follows the Lease of this controller. */
  readonly fence: Fence;
  /** Records Events with the controller's component. */
  readonly events: EventRecorder;
  readonly flags: FlagValues;
  /**
   * Settings of its section at the start of the process; `undefined` without a section. Changes arrive through
   * `reconfigure`.
   */
  readonly settings: S;
  /** Returns the current settings of any section, for a controller that shares a limit with another. */
  findSettings<T>(section: SettingsSection<T>): T;
  /** Views of objects. A controller asks for them in `create`; Landfall watches only these kinds. */
  readonly caches: Pick<Caches, "reader" | "optionalReader">;
  /** Registry for its own metrics. */
  readonly metrics: MetricsRegistry;
  /** Present for a controller that needs a cloud. */
  readonly cloud?: NodeCloud;
}

/** Returns the dependencies of a controller of Nodes. */
export function toNodeContext(
  context: Omit<ControllerContext, "fence" | "findSettings" | "settings">,
): NodeContext {
  return { ...context, ...requireCloud(context) };
}

/** Returns the cloud of a controller whose definition has `needsCloud`. */
export function requireCloud({
  cloud,
}: Omit<ControllerContext, "fence" | "findSettings" | "settings">): NodeCloud {
  assert(cloud !== undefined, "a controller that uses a cloud must set needsCloud");
  return cloud;
}
