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
import type { SettingForm } from "./settings/form.ts";
import type { SettingSyntax } from "./settings/syntax.ts";

/** Environment variables by name, as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting: for the reference page, for the chart, and to tell keys that no setting has. */
export interface SettingDescription {
  /** Key in the file, nested ones with dots: `addresses.exclude`; those of list items without an index. */
  readonly path: string;
  /** Form of its value. An `array` is of texts, or of blocks if keys stand below it; an `object` has free keys. */
  readonly form: SettingForm;
  /** What may be written there, in words for people: `duration`, `list of CIDRs`. */
  readonly type: string;
  /** What it does, whole sentences. */
  readonly description: string;
  /** What holds when it is not set, as it would be written. Absent: nothing. */
  readonly default?: string;
  /** Environment variable that is read when the file does not set it. */
  readonly variable?: string;
}

/** What became of a configuration. `settings` is there exactly when `issues` is empty. */
export interface ParsedConfig<S> {
  readonly settings?: S;
  /** Everything that is wrong. Each has its `path`; or its `source`, when an environment variable is to blame. */
  readonly issues: readonly ConfigIssue[];
  /** What is odd but can be lived with. */
  readonly warnings: readonly ConfigIssue[];
}

/** What a provider is given to live on. */
export interface ProviderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Aborts when the provider must stop everything. */
  readonly signal: AbortSignal;
  /** Asked right before each request that changes the cloud. Signing in is none: a standby does that, too. */
  readonly fence: Fence;
  /**
   * Whether this is one short look, as that of `landfall check`: the provider then leaves nothing behind in the cloud,
   * such as a token. @default {false}
   */
  readonly isTransient?: boolean;
  /** The file that the settings came from, for a provider that follows its changes. Absent without one. */
  readonly configFile?: ConfigFile;
  /** Tells whoever runs this of something to see to, beyond the log. Never throws. Absent: the log must do. */
  readonly notify?: (notice: CloudNotice) => void;
}

/** Something about a cloud that a person should see to before it becomes a failure. */
export interface CloudNotice {
  /** `credentialExpires`: what Landfall signs in with ends soon. */
  readonly kind: "credentialExpires";
  /** What it is and what to do, for people; no full stop, no secret. */
  readonly message: string;
}

/**
 * How a provider reads its settings.
 *
 * @typeParam S Its settings
 */
export type ConfigParser<S> = Pick<ProviderDefinition<S>, "parseConfig" | "settings" | "syntax">;

/** A file of settings that may be read again. */
export interface ConfigFile {
  readonly path: string;
  /** Reads the file as it is now. @throws {UnfitFileError} as `readSmallFile()` does */
  read(): Promise<Uint8Array>;
  /**
   * Reads settings from what the file held.
   *
   * @param parser Judges them; a definition passes itself
   * @throws {ConfigError} with everything that is wrong, each with its line
   */
  parse<S>(bytes: Uint8Array, parser: ConfigParser<S>): Promise<S>;
}

/** What the documents say of a cloud, as Markdown. */
export interface ProviderDocs {
  /** What people call it, as in the middle of a sentence. */
  readonly title: string;
  /** Where the values of the labels come from that every cloud gives a Node. */
  readonly topology: Readonly<Record<"instanceType" | "zone" | "region", string>>;
  /** Labels of its own by their keys: what each holds. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Form of its provider IDs, and what they name. */
  readonly providerId: { readonly form: string; readonly meaning: string };
  /** As few settings as it can be created with, as a file would say them. */
  readonly example: unknown;
}

/** How manifests and the Helm chart give a cloud its settings. */
export interface ProviderInstall {
  /** Secret that other programs of this cloud read their settings from, by convention. */
  readonly secret: string;
  /** Text of a file of settings, for people to complete. */
  readonly example: string;
  /** Environment variable that says where the cloud is: a pod that has it needs no file. @default {none} */
  readonly variable?: string;
}

/**
 * A cloud that can be chosen.
 *
 * @typeParam S Its settings; only the definition itself looks into them. A registry holds `ProviderDefinition` as it
 * is, and passes what `parseConfig` gave to `create` of the same definition.
 */
export interface ProviderDefinition<S = unknown> {
  /** Name for `--cloud-provider`. */
  readonly name: string;
  readonly docs: ProviderDocs;
  /** What its manifests say. @default {what those of the default cloud say} */
  readonly install?: ProviderInstall;
  /** Syntax of its file. @default {YAML} */
  readonly syntax?: SettingSyntax;
  /** Every setting, in the order of the reference page. A file with any other key is refused. */
  readonly settings: readonly SettingDescription[];
  /**
   * Reads a configuration. Never throws, never touches files or the network. Keys that no setting has are not its
   * business.
   *
   * @param raw What the file says; `undefined` or `null` without a file
   * @param env Environment variables; the file wins, key by key
   */
  parseConfig(raw: unknown, env: Environment): ParsedConfig<S>;
  /**
   * Creates the provider. Does not wait for the cloud.
   *
   * @throws {ConfigError} when a file that the settings name cannot be used
   */
  create(settings: S, deps: ProviderDeps): Provider;
  /**
   * Gives a provider that {@linkcode create} made other settings, while it works: all of them at once, or none. What it
   * knows of the cloud stays, as far as the settings still mean that cloud; of another one it knows nothing, as after
   * a start. Absent: any change needs a restart.
   *
   * @throws {ConfigError} with what cannot change while it runs, or a file that cannot be used; each issue has its
   * `path`. The old settings stay in use
   * @returns Whether the settings mean the same cloud as before; what was seen of another one counts for nothing
   */
  reconfigure?(provider: Provider, settings: S): "sameCloud" | "otherCloud";
}

/** A provider of a registry: what is known of it before it is loaded. */
export interface ProviderEntry {
  /** Name for `--cloud-provider`, the same as that of the definition. */
  readonly name: string;
  /** Loads the definition and all that it imports: a provider that is not chosen costs no memory. */
  load(): Promise<ProviderDefinition>;
}

/** The providers that can be chosen. The first is the default. */
export type ProviderRegistry = readonly [ProviderEntry, ...ProviderEntry[]];
