/**
 * The definition of a controller: its name, its words, what it needs, and how to load it.
 * @module
 */
import type { LoadBalancerLeftover } from "../cloud/capabilities/load_balancers.ts";
import type { MachineManagement } from "../cloud/capabilities/machine_management.ts";
import type { Capability } from "../cloud/capabilities/mod.ts";
import type { MachinesView } from "../cloud/capabilities/machines.ts";
import type { PoolUsage } from "../cloud/pools/usage.ts";
import type { SettingsSection } from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Right } from "../kube/access/rights.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { CustomResourceDefinition } from "../kube/kinds/crd.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { ControllerContext } from "./context.ts";
import type { ControllerFlag, FlagValues } from "./flags.ts";
import type { EventWord } from "../kube/events/words.ts";

/** A taint, an annotation or another word on objects that a controller reads or writes, for the reference page. */
export interface ObjectWord {
  readonly word: string;
  /** `taint`, `annotation`. */
  readonly where: string;
  /** Which program writes it and why, in one sentence. */
  readonly meaning: string;
}

/** What the debug pages show about a host that objects of a controller share. */
export interface HostReport {
  /** `namespace/name`. */
  readonly key: string;
  /** Values of the labels by which hosts are spread, by the label. */
  readonly places: Readonly<Record<string, string>>;
  /** What its operator says: `available`. Empty: nothing yet. */
  readonly state: string;
  /** Why it may not be taken. */
  readonly trouble?: string;
  /** `namespace/name` of the object that has it. */
  readonly cluster?: string;
  readonly role?: string;
  readonly standby?: boolean;
  /** What uses it, with kind, namespace and name. */
  readonly consumer?: string;
}

/** A condition in the status, with one of its reasons. */
export interface ConditionWord {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  /** When it is written, in one sentence. */
  readonly meaning: string;
}

/** A kind that Kubernetes does not have. */
export interface KindDefinition {
  readonly crd: CustomResourceDefinition;
  /** For the reference page: what such an object is, in whole sentences. */
  readonly about: string;
  /** The conditions that the controller writes, in the order of the page. */
  readonly conditions: readonly ConditionWord[];
}

/** CustomResourceDefinitions of another program that a controller runs. An administrator applies them once. */
export interface ProgramKinds {
  /** Name of their file, beside `crd.yaml`. */
  readonly file: string;
  /** What they are for, at the top of the file. */
  readonly about: string;
  readonly crds: readonly object[];
}

/** Where clients manage machines with the Redfish protocol. */
export interface ManagementPlace {
  /** As a user wrote it: `0.0.0.0:8443`. */
  readonly address: string;
  /** PEM files with certificate and key; both absent: Landfall makes a certificate. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Names of a certificate that Landfall makes. */
  readonly names: readonly string[];
  /** The flags of the three, for messages: `--vino-redfish-address`. */
  readonly flags: {
    readonly address: string;
    readonly certFile: string;
    readonly keyFile: string;
  };
}

/** A listener by which clients manage machines with the Redfish protocol. */
export interface ManagementListener extends ManagementPlace {
  readonly management: MachineManagement;
}

/** What is to say about the flags of a controller together. */
export interface FlagsJudgement {
  /** Why the process cannot start with them. */
  readonly issues: readonly ConfigIssue[];
  /** What does nothing. */
  readonly warnings: readonly string[];
}

/**
 * A controller that is created.
 *
 * @typeParam S What its section of the settings file becomes
 */
export interface RunningController<S = unknown> {
  /** Runs until the signal aborts and all work has ended. Called once, when this process becomes the leader. */
  run(signal: AbortSignal): Promise<void>;
  /** Called once, while another process leads: collects what {@linkcode run} must know, and writes nothing. */
  standBy?(): void;
  /**
   * Uses other settings from now on. Called if its section of the file changed, or the cloud did.
   *
   * @param settings The settings of its section, changed or not
   * @param options.isOtherCloud Whether the next inventories come from another cloud
   */
  reconfigure?(settings: S, options: { readonly isOtherCloud: boolean }): void;
  /**
   * The objects that it works on, for `/debug/<kind>`. If several controllers work on a kind, one of them sets this.
   * Absent for Nodes, which have their own pages.
   */
  readonly objects?: Pick<StoreReader<KubeObject>, "get" | "keys">;
  /**
   * Returns what the debug pages show about an object of its kind; nothing for an object that it does not work on.
   * Reads only memory. For a Node, the page combines the results of all controllers.
   */
  describe?(object: KubeObject): object | undefined;
  /**
   * Lists what the cloud has for objects of its kind that do not exist, for the debug pages, each with the time since
   * which it is known. Reads only memory.
   */
  listLeftovers?(): readonly (LoadBalancerLeftover & { readonly asOf: string })[];
  /** Lists how full address pools are, for the debug pages. Reads only memory. */
  listPools?(): readonly PoolUsage[];
  /** Lists all hosts in the order of their keys, for the debug pages. Each is described when it is read. */
  listHosts?(): Iterable<HostReport>;
  /**
   * Looks at the hosts and machines of the cloud that its objects are made of, for the debug pages. Reads only memory.
   *
   * @returns `undefined` before the first inventory
   */
  observeMachines?(signal: AbortSignal): Promise<MachinesView | undefined>;
  /** A listener for management controllers of machines. Absent: there is none. */
  readonly managementListener?: ManagementListener;
}

/** The result of {@linkcode ControllerDefinition.load}. */
export interface ControllerModule<S = unknown> {
  /** Creates the controller. It must not run anything or send a request yet. */
  create(context: ControllerContext<S>): RunningController<S>;
}

/** A namespace that a flag names. */
export interface NamedNamespace {
  readonly namespace: string;
  /** Without its dashes: `ip-pool-namespace`. */
  readonly flag: string;
  /** What it is for: `for IPPools`. */
  readonly use: string;
}

/**
 * A controller that can be chosen. A definition must be cheap to import: flags, reference pages, manifests and
 * `landfall check` iterate over all definitions, but Landfall loads only chosen controllers.
 *
 * @typeParam S Type of the settings of its section. A registry holds `ControllerDefinition` without this type, and
 * passes the settings of the section to the controller of the same definition
 */
export interface ControllerDefinition<S = unknown> {
  /** Name in `--controllers`, logs and metrics. */
  readonly name: string;
  /** Other names in `--controllers`: that of the Go controller that does the same. */
  readonly aliases: readonly string[];
  /** Whether `*` excludes it: it runs only if `--controllers` has its name or an alias. @default {false} */
  readonly isOffByDefault?: boolean;
  /** The kind that it works on, and that {@linkcode RunningController.describe} describes. */
  readonly kind: Resource<KubeObject>;
  /** Whether it needs a cloud. Then {@linkcode ControllerContext.cloud} is present, and Landfall watches Nodes. */
  readonly needsCloud: boolean;
  /**
   * Name of the Lease that a process must hold to run it, wherever the process runs: for a kind that only one process
   * in the cluster may serve. Several controllers may name the same one. A cloud fences its writes by the Lease of the
   * process, so they may change a cloud only by a capability that takes the caller's fence: `machines`.
   *
   * Frozen: it must not change. @default {the Lease of the process, `--leader-elect-resource-name`}
   */
  readonly lease?: string;
  /** Capabilities that the cloud must have. Without them the controller cannot run. @default {nothing} */
  readonly needs?: readonly Capability[];
  /**
   * Whether the process starts without it if the cloud lacks such a capability, even if `--controllers` names it.
   * @default {the process does not start then}
   */
  readonly mayBeLeftOut?: boolean;
  /** Whether it runs even if the cloud lacks such a capability, and says so on its objects. @default {false} */
  readonly reportsLack?: boolean;
  /** Capabilities that its settings stand in for, and how to set them. @default {none} */
  readonly standIn?: {
    /** Lists the capabilities of {@linkcode needs} that the cloud need not have with these settings. */
    list(settings: S): readonly Capability[];
    /** What to do for a cloud that lacks them; no full stop. */
    readonly advice: string;
  };
  /**
   * Whether clients manage machines by it with these flags ({@linkcode RunningController.managementListener}), for
   * which the cloud's user needs more rights. @default {never}
   */
  managesMachines?(flags: FlagValues): boolean;
  /** Judges its flags together. @default {they fit} */
  judgeFlags?(flags: FlagValues): FlagsJudgement;
  /** Where clients manage machines with these flags. @throws {ConfigError} if they do not fit. @default {nowhere} */
  findManagementPlace?(flags: FlagValues): ManagementPlace | undefined;
  /** Namespaces in which it makes objects with these flags, and which it does not make itself. @default {none} */
  listNamespaces?(flags: FlagValues): readonly NamedNamespace[];
  /** `source.component` of its Events. */
  readonly component: string;
  /** Its Events, in the order of the reference page. */
  readonly events: Readonly<Record<string, EventWord>>;
  /** Other words on objects that it reads or writes. */
  readonly words: readonly ObjectWord[];
  /** Flags that it reads. Several controllers may list the same flag. */
  readonly flags: readonly ControllerFlag[];
  /** Its section of the settings file. The file may have it whether the controller runs or not. Absent: it has none. */
  readonly section?: SettingsSection<S>;
  /** Kinds that it watches, besides Nodes, which come with the cloud. Their rights are added automatically. */
  readonly watches: readonly Resource<KubeObject>[];
  /**
   * Imports the definitions of kinds that Kubernetes does not have, for manifests and reference pages.
   *
   * @default {it has none}
   */
  loadKinds?(): Promise<readonly KindDefinition[]>;
  /** Imports the kinds of other programs that it runs, for manifests. @default {it has none} */
  loadProgramKinds?(): Promise<readonly ProgramKinds[]>;
  /**
   * Lists all other rights that it needs in the cluster. Its manifests do not grant what it needs only with some flags.
   *
   * @param needs.settings Those of its section. Absent: those that need the most rights
   */
  listRights(needs: {
    readonly settings: S | undefined;
    readonly flags: FlagValues;
  }): readonly Right[];
  /**
   * Folder below deploy/manifests with manifests that run it alone, and crd.yaml, the CustomResourceDefinitions of its
   * kinds. It must be off by default and name a Lease. If it needs a cloud, the manifests are for the default one, with
   * a Secret of its own. @default {none}
   */
  readonly folder?: string;
  /** Registers its own metrics; only for the reference page. Absent: it has none. */
  registerMetrics?(registry: MetricsRegistry): unknown;
  /** Imports the controller's code. */
  load(): Promise<ControllerModule<S>>;
}
