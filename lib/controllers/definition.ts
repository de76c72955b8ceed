/**
 * How a controller is added: its name and words, what it needs, and how it is loaded.
 * @module
 */
import type { Capability } from "../cloud/capabilities/mod.ts";
import type { SettingsSection } from "../cloud/settings/section.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Right } from "../kube/access/rights.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { ControllerContext } from "./context.ts";
import type { ControllerFlag } from "./flags.ts";
import type { EventWord } from "../kube/events/words.ts";

/** A taint, an annotation or another word on objects that a controller reads or writes, for the reference page. */
export interface ObjectWord {
  readonly word: string;
  /** `taint`, `annotation`. */
  readonly where: string;
  /** Who writes it and why, one sentence. */
  readonly meaning: string;
}

/**
 * A controller that works.
 *
 * @typeParam S What its section of the settings file becomes
 */
export interface RunningController<S = unknown> {
  /** Runs until the signal aborts and what was under way has ended. Called once, when this process may act. */
  run(signal: AbortSignal): Promise<void>;
  /** Called once, before {@linkcode run}: remembers what it must know by then, and writes nothing. */
  standBy?(): void;
  /**
   * Uses other settings from now on. Called when its section of the file is another, or the cloud is.
   *
   * @param settings Those of its section, changed or not
   * @param options.isOtherCloud Whether inventories are another cloud's from now on
   */
  reconfigure?(settings: S, options: { readonly isOtherCloud: boolean }): void;
  /**
   * The objects of its kind that it works on, for `/debug/<kind>`; of several controllers of a kind one gives them.
   * Absent for Nodes, which have pages of their own.
   */
  readonly objects?: Pick<StoreReader<KubeObject>, "get" | "keys">;
  /** What the debug pages show of an object of its kind, in memory. That of a Node is put together from all. */
  describe?(object: KubeObject): object;
}

/** What a controller's {@linkcode ControllerDefinition.load} gives. */
export interface ControllerModule<S = unknown> {
  /** Creates the controller. Nothing runs yet, and nothing is asked. */
  create(context: ControllerContext<S>): RunningController<S>;
}

/**
 * A controller that can be chosen. What stands here is cheap to import: flags, reference pages, manifests and
 * `landfall check` iterate over all definitions, and a controller that is not chosen is not loaded.
 *
 * @typeParam S What its section of the settings file becomes. A registry holds `ControllerDefinition` as it is, and
 * passes what the section gave to the controller of the same definition
 */
export interface ControllerDefinition<S = unknown> {
  /** Name for `--controllers`, in logs and metrics. */
  readonly name: string;
  /** What `--controllers` may call it, too: the name of the Go controller that does the same. */
  readonly aliases: readonly string[];
  /** Whether `*` leaves it out: it runs only where `--controllers` has its name or an alias. @default {false} */
  readonly isOffByDefault?: boolean;
  /** The kind that it works on, and that its {@linkcode RunningController.describe} is about. */
  readonly kind: Resource<KubeObject>;
  /** Whether it needs a cloud: then {@linkcode ControllerContext.cloud} is there, and Nodes are watched. */
  readonly needsCloud: boolean;
  /** What the cloud must be able to do, so that it can run at all; for one that needs a cloud. @default {nothing} */
  readonly needs?: readonly Capability[];
  /** `source.component` of its Events. */
  readonly component: string;
  /** Its Events, in the order of the reference page. */
  readonly events: Readonly<Record<string, EventWord>>;
  /** Other words that it reads or writes on objects. */
  readonly words: readonly ObjectWord[];
  /** Flags that it reads; controllers that read the same one list the same one. */
  readonly flags: readonly ControllerFlag[];
  /** Its section of the settings file, which may stand there whether it runs or not. Absent: it has none. */
  readonly section?: SettingsSection<S>;
  /** Kinds that it asks for views of beside Nodes, which come with the cloud: the rights to watch them follow. */
  readonly watches: readonly Resource<KubeObject>[];
  /** What it may do in the cluster beyond that. */
  readonly rights: readonly Right[];
  /** Whether it needs one of {@linkcode rights} with these settings. @default {it needs each} */
  needsRight?(right: Right, settings: S): boolean;
  /** The first Kubernetes that it works with, such as `1.26`. @default {any} */
  readonly leastKubernetes?: string;
  /** Registers its own metrics; for the reference page alone. Absent: it has none. */
  registerMetrics?(registry: MetricsRegistry): unknown;
  /** Imports what runs. */
  load(): Promise<ControllerModule<S>>;
}
