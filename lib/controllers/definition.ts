/**
 * The definition of a controller: its name, its words, its flags, what it needs, what it gets, and how to load it. And
 * what follows from the definitions of a registry: which controllers run, and what a process needs for them.
 * @module
 */
import type { LoadBalancerLeftover } from "../cloud/capabilities/load_balancers.ts";
import type { MachineManagement } from "../cloud/capabilities/machine_management.ts";
import type { Capability } from "../cloud/capabilities/mod.ts";
import type { MachinesUse, MachinesView } from "../cloud/capabilities/machines.ts";
import type { PoolUsage } from "../cloud/pools/usage.ts";
import {
  findSettings,
  type SectionValues,
  type SettingsSection,
} from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { Fence } from "../core/fence.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { LoopContext } from "../engine/object_loop.ts";
import type { Finding } from "../cloud/inspection.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { Caches } from "../kube/cache/caches.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { NodeCloud } from "./node_context.ts";
import type { Right } from "../kube/access/rights.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { CustomResourceDefinition } from "../kube/kinds/crd.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { EventWord } from "../kube/events/words.ts";
import { parseDuration } from "../core/text/values.ts";
import type { ProviderInstall } from "../cloud/provider_definition.ts";

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

interface FlagWords {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  /** Default, as an operator would write it after `=`. */
  readonly default: string;
  /** What it does, in one line without full stop. */
  readonly help: string;
}

/** A flag of a controller with a number. */
export interface NumberFlag extends FlagWords {
  readonly type: "duration" | "int";
  /** Both limits are allowed; for a duration in milliseconds. */
  readonly range: readonly [least: number, most: number];
}

/** A flag of a controller with a text. */
export interface TextFlag extends FlagWords {
  readonly type: "string";
  /**
   * Says what is wrong with a text, to complete the sentence "must be …".
   *
   * @returns `undefined` if nothing is
   */
  readonly findProblem: (text: string) => string | undefined;
}

/** A flag of a controller. */
export type ControllerFlag = NumberFlag | TextFlag;

/** Values of these flags by name, durations in milliseconds. A flag that is absent has its default. */
export type FlagValues = Readonly<Record<string, number | string>>;

/** How often Landfall checks every Node even without a change. */
export const FULL_PASS_FLAG: NumberFlag = {
  name: "node-status-update-frequency",
  type: "duration",
  default: "5m0s",
  help: "How often Landfall compares every Node with its machine, even without a change",
  range: [1_000, 24 * 3_600_000],
};

/** Returns the value of a flag; a duration in milliseconds. */
export function readFlag(values: FlagValues, flag: NumberFlag): number {
  const given = values[flag.name];
  if (typeof given === "number") return given;
  return flag.type === "duration" ? parseDuration(flag.default) : Number(flag.default);
}

/** Returns the text of a flag. */
export function readTextFlag(values: FlagValues, flag: TextFlag): string {
  return String(values[flag.name] ?? flag.default);
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
  /** Called after any section of the file changed, for a controller that reads others by `findSettings`. */
  noteSettings?(): void;
  /**
   * The objects that it works on, for `/debug/<kind>`. If several controllers work on a kind, one of them sets this.
   * Absent for Nodes, which have their own pages.
   */
  readonly objects?: Pick<StoreReader<KubeObject>, "get" | "keys" | "subscribe">;
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

/** The result of {@linkcode ControllerDefinition.load}. */
export interface ControllerModule<S = unknown> {
  /** Creates the controller. It must not run anything or send a request yet. */
  create(context: ControllerContext<S>): RunningController<S>;
  /** Registers its own metrics; only for the reference page. Absent: it has none. */
  registerMetrics?(registry: MetricsRegistry): unknown;
}

/** A rule of Roles that a controller makes. */
export interface RoleRule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What an admission policy lets a controller write, in addition to what its rights say. */
export interface Confinement {
  /** Labels by which its ConfigMaps, Deployments and Secrets are known, `key` or `key=value`: each of them has one. */
  readonly labels: readonly string[];
  /** How the names of the ServiceAccounts begin with which it runs Pods, and those of their Roles and RoleBindings. */
  readonly accounts: readonly string[];
  /** What these Roles may give: rules with these API groups and resources, and at most these verbs. */
  readonly roleRules: readonly RoleRule[];
}

/** A namespace that a flag names. */
export interface NamedNamespace {
  readonly namespace: string;
  /** Without its dashes: `ip-pool-namespace`. */
  readonly flag: string;
  /** What it is for: `for IPPools`. */
  readonly use: string;
  /** Whether the rights of the scope `hosts` are needed there. Then it may also be {@linkcode EVERY_NAMESPACE}. */
  readonly isForHosts?: true;
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
   * How clients manage machines by it with these flags ({@linkcode RunningController.managementListener}), for which
   * the cloud's user needs more rights. @default {they do not}
   */
  findMachinesUse?(flags: FlagValues): MachinesUse;
  /** Judges its flags together. @default {they fit} */
  judgeFlags?(flags: FlagValues): FlagsJudgement;
  /** Where clients manage machines with these flags. @throws {ConfigError} if they do not fit. @default {nowhere} */
  findManagementPlace?(flags: FlagValues): ManagementPlace | undefined;
  /** Namespaces that it needs with these flags, and which it does not make itself. @default {none} */
  listNamespaces?(flags: FlagValues): readonly NamedNamespace[];
  /**
   * Finds what does not fit together in the cluster, for `landfall check`. It lists what it needs.
   *
   * @throws {KubeError} if the API server does not say
   */
  inspect?(
    client: Pick<KubeClient, "list">,
    flags: FlagValues,
    signal: AbortSignal,
  ): Promise<readonly Finding[]>;
  /** What an admission policy lets it write. @default {it writes no Secrets and no Deployments} */
  readonly confinement?: Confinement;
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
  /** Imports the controller's code. */
  load(): Promise<ControllerModule<S>>;
}

/** A chosen controller, and its code. */
export interface LoadedController {
  readonly definition: ControllerDefinition;
  readonly module: ControllerModule;
}

/** Lists the controllers that `*` chooses. */
export function listOnByDefault(
  registry: readonly ControllerDefinition[],
): readonly ControllerDefinition[] {
  return registry.filter(({ isOffByDefault = false }) => !isOffByDefault);
}

/**
 * Lists the controllers that the manifests of a cloud start: those that `*` chooses, without those that only some
 * clouds can serve, unless the cloud's definition names them.
 */
export function listInstalled(
  registry: readonly ControllerDefinition[],
  { controllers = [] }: Pick<ProviderInstall, "controllers"> = {},
): readonly ControllerDefinition[] {
  return listOnByDefault(registry).filter(
    ({ name, mayBeLeftOut = false }) => !mayBeLeftOut || controllers.includes(name),
  );
}

/**
 * Whether a controller can be installed by itself, beside an installation for a cloud: it needs no Lease but its own.
 * Then a process that runs only such controllers needs none of the rights of the others.
 */
export function isSeparable({
  isOffByDefault = false,
  lease,
}: Pick<ControllerDefinition, "isOffByDefault" | "lease">): boolean {
  return isOffByDefault && lease !== undefined;
}

/** Whether it needs no cloud either, so that it can be installed without any. */
export function isStandalone(
  one: Pick<ControllerDefinition, "isOffByDefault" | "lease" | "needsCloud">,
): boolean {
  return isSeparable(one) && !one.needsCloud;
}

/** Loads controllers; keeps their order. */
export function loadControllers(
  chosen: readonly ControllerDefinition[],
): Promise<LoadedController[]> {
  return Promise.all(
    chosen.map(async (definition) => ({ definition, module: await definition.load() })),
  );
}

/** Lists the sections of the settings file that belong to controllers, whether they run or not. */
export function listSections(registry: readonly ControllerDefinition[]): SettingsSection[] {
  return [...new Set(registry.flatMap(({ section }) => section ?? []))];
}

/** Lists settings that do nothing, because no controller that reads them runs; each with its `path`. */
export function listIdleSettings(
  sections: readonly SettingsSection[],
  values: SectionValues,
  running: readonly Pick<ControllerDefinition, "section">[],
): ConfigIssue[] {
  const read = new Set(running.map(({ section }) => section));
  return sections
    .filter((section) => !read.has(section))
    .flatMap((section) => section.findIdle?.(findSettings(section, values)) ?? []);
}

/**
 * Lists the Leases that a process needs for these controllers, each once. Its own one comes first. It does not need
 * that one if each controller names another; without controllers it does.
 *
 * @param own Name of the Lease of the process
 */
export function listLeases(
  chosen: readonly Pick<ControllerDefinition, "lease">[],
  own: string,
): string[] {
  const names = chosen.map(({ lease = own }) => lease);
  const needsOwn = names.length === 0 || names.includes(own);
  return [...new Set(needsOwn ? [own, ...names] : names)];
}

/** Whether one of these controllers has a section in the settings file. */
export function needsSections(chosen: readonly ControllerDefinition[]): boolean {
  return chosen.some(({ section }) => section !== undefined);
}

/** Whether a process needs the cloud. A process without controllers serves only its pages, which show Nodes. */
export function needsCloud(chosen: readonly Pick<ControllerDefinition, "needsCloud">[]): boolean {
  return chosen.length === 0 || chosen.some((one) => one.needsCloud);
}
