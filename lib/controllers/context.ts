/**
 * What a controller is given to live on.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { Provider } from "../cloud/provider.ts";
import type { SettingsSection } from "../cloud/settings/section.ts";
import { assert } from "../core/assert.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { LoopContext } from "../engine/object_loop.ts";
import type { WrittenVersions } from "../engine/written_versions.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { Caches } from "../kube/cache/caches.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { DeletionHolds } from "./deletion_holds.ts";
import type { FlagValues } from "./flags.ts";
import type { NodePresences } from "./node_presences.ts";

/** What every controller of Nodes works with. */
export interface NodeContext extends LoopContext {
  readonly client: KubeClient;
  readonly nodes: StoreReader<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly resolver: InstanceResolver;
  readonly presences: NodePresences;
  readonly events: EventRecorder;
  /** Shared by all that write Nodes. */
  readonly written: WrittenVersions;
  /** How many Nodes each controller works on at once. */
  readonly workers: number;
  /** Why Nodes may not be deleted yet. @default {no reasons are collected} */
  readonly holds?: DeletionHolds;
}

/** Nodes and the cloud that their machines are in. All controllers of a process share it. */
export type NodeCloud = Pick<
  NodeContext,
  "nodes" | "provider" | "source" | "resolver" | "presences" | "written" | "workers" | "holds"
>;

/**
 * What a controller lives on.
 *
 * @typeParam S What its section of the settings file becomes
 */
export interface ControllerContext<S = unknown> extends LoopContext {
  /** Writes only while this process may act. */
  readonly client: KubeClient;
  /** Speaks as the controller's component. */
  readonly events: EventRecorder;
  readonly flags: FlagValues;
  /** Of its section of the file, as the process starts; without a section `undefined`. Changes: `reconfigure`. */
  readonly settings: S;
  /** The settings of any section as they are now, for a controller that shares a limit with another. */
  findSettings<T>(section: SettingsSection<T>): T;
  /** Views of objects. A controller asks for them when it is created; Landfall watches only these kinds. */
  readonly caches: Pick<Caches, "reader" | "optionalReader">;
  /** For metrics of its own. */
  readonly metrics: MetricsRegistry;
  /** There for a controller that needs a cloud. */
  readonly cloud?: NodeCloud;
}

/** What a controller of Nodes lives on. */
export function toNodeContext(
  context: Omit<ControllerContext, "findSettings" | "settings">,
): NodeContext {
  return { ...context, ...requireCloud(context) };
}

/** The cloud of a controller whose definition says that it needs one. */
export function requireCloud({
  cloud,
}: Omit<ControllerContext, "findSettings" | "settings">): NodeCloud {
  assert(cloud !== undefined, "a controller that asks for a cloud says that it needs one");
  return cloud;
}
