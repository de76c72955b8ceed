/**
 * The definition of a cloud: its name, its settings, and how to create its provider from them.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../core/clock.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { Fence } from "../core/fence.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Provider } from "./provider.ts";
import type { SettingDescription, SettingSyntax } from "./settings/schema.ts";

/** Environment variables by name, as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The result of reading a configuration. `settings` is there if `issues` is empty, and only then. */
export interface ParsedConfig<S> {
  readonly settings?: S;
  /** Every problem. Each has its `path`, or its `source` if it is in an environment variable. */
  readonly issues: readonly ConfigIssue[];
  /** Unusual values that Landfall can work with. */
  readonly warnings: readonly ConfigIssue[];
}

/** What a provider is created with. */
export interface ProviderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Aborts when the provider must stop everything. */
  readonly signal: AbortSignal;
  /** Called right before each request that changes the cloud. Signing in is not a change: a standby does it, too. */
  readonly fence: Fence;
  /**
   * Whether the provider is only for one short look, like that of `landfall check`. It then leaves nothing behind in
   * the cloud, for example no token. @default {false}
   */
  readonly isTransient?: boolean;
  /** The file that the settings came from, for a provider that reads its changes. Absent without a file. */
  readonly configFile?: ConfigFile;
  /** Reports something to the operator besides the log. Never throws. Absent: only the log reports it. */
  readonly notify?: (notice: CloudNotice) => void;
  /** Call it when another user asks with the same settings: another provider follows. @default {nothing happens} */
  readonly onOtherUser?: () => void;
}

/**
 * What a change of settings means for requests.
 *
 * - `sameUser`: they go where they went. What is known stays true, and what runs goes on
 * - `otherUser`: another user asks, or sees another part of the same cloud
 * - `otherCloud`: they go to another cloud, of which nothing is known
 */
export type SettingsChange = "sameUser" | "otherUser" | "otherCloud";

/** What a provider gets from the one that it replaces. */
interface Handover<H> {
  readonly change: SettingsChange;
  /** `Provider.handover` of that provider, which the same definition created. */
  readonly from: H;
}

/**
 * Compares settings of a cloud that has an address.
 *
 * @param local The settings on which no request depends
 */
export function compareSettings<S extends { readonly url: string }>(
  before: S,
  after: S,
  local: readonly (keyof S)[],
): SettingsChange {
  if (before.url !== after.url) return "otherCloud";
  const others = (settings: S): object =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => !local.some((one) => one === key)),
    );
  return isDeepStrictEqual(others(before), others(after)) ? "sameUser" : "otherUser";
}

/** A problem of a cloud that an operator should fix before it becomes a failure. */
interface CloudNotice {
  /** `credentialExpires`: Landfall's credentials expire soon. */
  readonly kind: "credentialExpires";
  /** What the problem is and what to do, for operators; no full stop, no secret. */
  readonly message: string;
}

/**
 * How a provider reads its settings.
 *
 * @typeParam S Its settings
 */
export type ConfigParser<S> = Pick<
  ProviderDefinition<S>,
  "parseConfig" | "refusedSettings" | "settings" | "syntax"
>;

/** A settings file that can be read again. */
export interface ConfigFile {
  readonly path: string;
  /** Reads the file as it is now. @throws {UnfitFileError} as `readSmallFile()` does */
  read(): Promise<Uint8Array>;
  /**
   * Reads settings from the content of the file.
   *
   * @param parser Checks them; a definition passes itself
   * @throws {ConfigError} with everything that is wrong, each with its line; but not if only a section for Services is
   *   wrong, and the sections that matter for Nodes are as they were
   */
  parse<S>(bytes: Uint8Array, parser: ConfigParser<S>): Promise<S>;
}

/** An annotation that users set on a Service, as Markdown. */
export interface AnnotationDocs {
  readonly name: string;
  /** What its value may be. */
  readonly values: string;
  readonly meaning: string;
}

/** What the documents say about the load balancers of a cloud. */
export interface LoadBalancerDocs {
  readonly annotations: readonly AnnotationDocs[];
  /** Reasons of Events on Services that only this cloud has, and what each means. */
  readonly problems: Readonly<Record<string, string>>;
}

/** What the documents say about a cloud, as Markdown. */
export interface ProviderDocs {
  /** Name of the cloud, as in the middle of a sentence. */
  readonly title: string;
  /** What to know about its settings file before the list of settings, as Markdown. @default {its syntax} */
  readonly file?: string;
  /** The source of each value, for the labels that every cloud sets on a Node. */
  readonly topology: Readonly<Record<"instanceType" | "zone" | "region", string>>;
  /** Labels that only this cloud sets, by key: what each value means. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Form of its provider IDs, and what they name. */
  readonly providerId: { readonly form: string; readonly meaning: string };
  /** Absent: it has no load balancers of its own. */
  readonly loadBalancers?: LoadBalancerDocs;
  /** The smallest settings file that works, as an object. */
  readonly example: unknown;
}

/** How manifests and the Helm chart give a cloud its settings, and replace another program for this cloud. */
export interface ProviderInstall {
  /** The other cloud controller manager for this cloud, as in the middle of a sentence after "the". */
  readonly other: string;
  /** Its Lease, so that it and Landfall never act at the same time. */
  readonly lease: string;
  /**
   * Its Lease where it runs beside Landfall, only for Services of type LoadBalancer. While a process holds it, Landfall
   * must not run the controller `service`. @default {no guide ever named one}
   */
  readonly serviceLease?: string;
  /**
   * Controllers that its manifests start, besides those that every cloud has: only they need the rights in the cluster.
   * @default {none}
   */
  readonly controllers?: readonly string[];
  /** Secret from which other programs for this cloud read their settings by convention. */
  readonly secret: string;
  /** Key of the settings in that Secret. @default {`config.`, then the name of the syntax in lower case} */
  readonly key?: string;
  /** Folder of its own manifests, below those of the default cloud. @default {it has none} */
  readonly folder?: string;
  /** Text of a settings file, for operators to complete. */
  readonly example: string;
  /** Environment variable with the cloud's address. A Pod that has it needs no settings file. @default {none} */
  readonly variable?: string;
}

/** A role for the user of a cloud, as a file that administrators apply. */
export interface CloudRole {
  /** Name of the file, below the folder of the cloud in deploy/. */
  readonly file: string;
  readonly role: {
    readonly name: string;
    readonly description: string;
    /** In the words of the cloud. */
    readonly privileges: readonly Readonly<Record<string, string>>[];
  };
}

/**
 * A cloud that can be chosen.
 *
 * @typeParam S Type of its settings; only the definition itself reads them. A registry holds `ProviderDefinition`
 * without this type, and passes the result of `parseConfig` to `create` of the same definition.
 * @typeParam H Type of `Provider.handover`, as `S`
 */
export interface ProviderDefinition<S = unknown, H = unknown> {
  /** Name for `--cloud-provider`. */
  readonly name: string;
  readonly docs: ProviderDocs;
  /** What its manifests contain. @default {the same as for the default cloud} */
  readonly install?: ProviderInstall;
  /** Imports the roles for users of the cloud that may do more than read. @default {it has none} */
  loadRoles?(): Promise<readonly CloudRole[]>;
  /** Syntax of its file. @default {YAML} */
  readonly syntax?: SettingSyntax;
  /** Every setting, in the order of the reference page. Any other key in a file is an error. */
  readonly settings: readonly SettingDescription[];
  /**
   * Sections of the file that have no meaning for this cloud, or settings in one, by their paths: why, and what to do;
   * no full stop. They are errors, so that no operator relies on them. @default {none}
   */
  readonly refusedSettings?: Readonly<Record<string, string>>;
  /**
   * Reads a configuration. Never throws, never touches files or the network. Ignores keys that no setting has.
   *
   * @param raw Content of the file; `undefined` or `null` without a file
   * @param env Environment variables; a key in the file takes precedence
   */
  parseConfig(raw: unknown, env: Environment): ParsedConfig<S>;
  /**
   * Creates the provider. Does not wait for the cloud.
   *
   * @param before From the provider that it replaces, after a change of settings. The one before finishes what runs
   * @throws {ConfigError} when a file that the settings name cannot be used, or a changed setting needs a restart; each
   * issue has its `path`. Nothing has changed then
   */
  create(settings: S, deps: ProviderDeps, before?: Handover<H>): Provider;
  /** Says what a change of settings means for requests. Pure. @default {always `otherCloud`} */
  compare?(before: S, after: S): SettingsChange;
}

/** An entry of the registry: a provider before Landfall loads its code. */
export interface ProviderEntry {
  /** Name for `--cloud-provider`, the same as that of the definition. */
  readonly name: string;
  /** Other names that `--cloud-provider` accepts. @default {none} */
  readonly aliases?: readonly string[];
  /** Loads the definition and everything that it imports: a provider that is not chosen uses no memory. */
  load(): Promise<ProviderDefinition>;
}

/** The providers that can be chosen. The first is the default. */
export type ProviderRegistry = readonly [ProviderEntry, ...ProviderEntry[]];
