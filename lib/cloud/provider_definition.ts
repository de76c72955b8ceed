/**
 * How a cloud is added: its name, its settings, and how they become a provider.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { Fence } from "../core/fence.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Provider } from "./provider.ts";
import type { SettingDescription } from "./settings/description.ts";
import type { SettingSyntax } from "./settings/syntax.ts";

export type { SettingDescription } from "./settings/description.ts";

/** Environment variables by name, as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The result of reading a configuration. `settings` is there if `issues` is empty, and only then. */
export interface ParsedConfig<S> {
  readonly settings?: S;
  /** Every problem. Each has its `path`, or its `source` if an environment variable is the problem. */
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
   * Whether this is one short look, like that of `landfall check`: the provider then leaves nothing behind in the
   * cloud, such as a token. @default {false}
   */
  readonly isTransient?: boolean;
  /** The file that the settings came from, for a provider that follows its changes. Absent without one. */
  readonly configFile?: ConfigFile;
  /** Reports something to the operator besides the log. Never throws. Absent: only the log reports it. */
  readonly notify?: (notice: CloudNotice) => void;
}

/** Something about a cloud that an operator should fix before it becomes a failure. */
export interface CloudNotice {
  /** `credentialExpires`: the credentials of Landfall expire soon. */
  readonly kind: "credentialExpires";
  /** What it is and what to do, for operators; no full stop, no secret. */
  readonly message: string;
}

/**
 * How a provider reads its settings.
 *
 * @typeParam S Its settings
 */
export type ConfigParser<S> = Pick<ProviderDefinition<S>, "parseConfig" | "settings" | "syntax">;

/** A settings file that can be read again. */
export interface ConfigFile {
  readonly path: string;
  /** Reads the file as it is now. @throws {UnfitFileError} as `readSmallFile()` does */
  read(): Promise<Uint8Array>;
  /**
   * Reads settings from the content of the file.
   *
   * @param parser Checks them; a definition passes itself
   * @throws {ConfigError} with everything that is wrong, each with its line
   */
  parse<S>(bytes: Uint8Array, parser: ConfigParser<S>): Promise<S>;
}

/** What the documents say about a cloud, as Markdown. */
export interface ProviderDocs {
  /** Its name, as in the middle of a sentence. */
  readonly title: string;
  /** Where the values of the labels come from that every cloud sets on a Node. */
  readonly topology: Readonly<Record<"instanceType" | "zone" | "region", string>>;
  /** Labels of its own by their keys: what each holds. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Form of its provider IDs, and what they name. */
  readonly providerId: { readonly form: string; readonly meaning: string };
  /** The fewest settings that it can be created with, as a file would have them. */
  readonly example: unknown;
}

/** How manifests and the Helm chart give a cloud its settings. */
export interface ProviderInstall {
  /** Secret from which other programs of this cloud read their settings, by convention. */
  readonly secret: string;
  /** Text of a settings file, for operators to complete. */
  readonly example: string;
  /** Environment variable that says where the cloud is: a pod that has it needs no file. @default {none} */
  readonly variable?: string;
}

/**
 * A cloud that can be chosen.
 *
 * @typeParam S Its settings; only the definition itself reads them. A registry holds `ProviderDefinition` without a
 * type, and passes the result of `parseConfig` to `create` of the same definition.
 */
export interface ProviderDefinition<S = unknown> {
  /** Name for `--cloud-provider`. */
  readonly name: string;
  readonly docs: ProviderDocs;
  /** What its manifests contain. @default {the same as for the default cloud} */
  readonly install?: ProviderInstall;
  /** Syntax of its file. @default {YAML} */
  readonly syntax?: SettingSyntax;
  /** Every setting, in the order of the reference page. A file with any other key is refused. */
  readonly settings: readonly SettingDescription[];
  /**
   * Reads a configuration. Never throws, never touches files or the network. Ignores keys that no setting has.
   *
   * @param raw What the file says; `undefined` or `null` without a file
   * @param env Environment variables; each key of the file wins over them
   */
  parseConfig(raw: unknown, env: Environment): ParsedConfig<S>;
  /**
   * Creates the provider. Does not wait for the cloud.
   *
   * @throws {ConfigError} when a file that the settings name cannot be used
   */
  create(settings: S, deps: ProviderDeps): Provider;
  /**
   * Changes the settings of a running provider that {@linkcode create} made: all of them at once, or none. It keeps its
   * knowledge of the cloud as far as the settings still mean that cloud. Of another cloud it knows nothing, as after a
   * start. Absent: any change needs a restart.
   *
   * @throws {ConfigError} with settings that cannot change while it runs, or a file that cannot be used; each issue has
   * its `path`. The old settings stay in use
   * @returns Whether the settings mean the same cloud as before; what was seen of another one no longer counts
   */
  reconfigure?(provider: Provider, settings: S): "sameCloud" | "otherCloud";
}

/** A provider of a registry: what is known about it before it is loaded. */
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
