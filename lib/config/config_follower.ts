/**
 * Follows a settings file: applies a valid change, refuses an invalid one and keeps the old settings.
 * @module
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ConfigParser, Environment } from "../cloud/provider_definition.ts";
import type { SettingsSection } from "../cloud/settings/schema.ts";
import type { Clock } from "../core/clock.ts";
import { ConfigError, type ConfigIssue } from "../core/errors.ts";
import { MessageDedup } from "../core/log.ts";
import { readConfigText } from "./config_text.ts";
import { parseProviderConfig, type ProviderConfig } from "./provider_config.ts";

/** The result of a change. */
export type ConfigOutcome =
  | { readonly kind: "applied"; readonly warnings: readonly ConfigIssue[] }
  /** Every problem, with its place. Reported when it is new, and again each hour while it lasts. */
  | { readonly kind: "refused"; readonly issues: readonly ConfigIssue[] }
  /** The refused change was undone: the file contains the settings in use. */
  | { readonly kind: "withdrawn" };

/** A settings file to follow, and its content at the start. */
export interface FollowedConfig<S> {
  readonly path: string;
  /**
   * Reads the file.
   *
   * @throws {ConfigError} when it is not a valid settings file
   * @default {readConfigText}
   */
  readonly read?: (path: string) => Promise<string>;
  readonly env: Environment;
  readonly definition: ConfigParser<S>;
  /** As {@linkcode parseProviderConfig} takes them. */
  readonly sections: readonly SettingsSection[];
  /** The settings in use: those of the file at the start. */
  readonly current: Pick<ProviderConfig<S>, "settings" | "sections">;
}

/** What {@linkcode followConfig} needs. */
interface ConfigFollowerOptions<S> extends FollowedConfig<S> {
  /**
   * Applies settings, all or nothing.
   *
   * @throws {ConfigError} with settings that cannot change now, by their `path`
   */
  readonly apply: (config: ProviderConfig<S>) => void;
  /** Called with the result of a change; not for a change of comments only. Never throws. */
  readonly onOutcome: (outcome: ConfigOutcome) => void;
  readonly clock: Clock;
}

/** Between two looks. The content is compared: a copy may keep time and size, and mounts switch links. */
const LOOK_MS = 10_000;
/** A change may still be in progress: two looks this far apart must agree. */
const SETTLE_MS = 1_000;
/** A restart would fail with a refused change: report it again. */
const REMIND_MS = 3_600_000;

/** A deployment that went wrong leaves such a file: its defaults may allow what the settings forbade. */
const EMPTIED = "there are no settings in the file any more; to use the defaults, restart Landfall";

/** Follows the file until the signal aborts; then returns. A change is applied or refused within 20 s. */
export async function followConfig<S>(
  options: ConfigFollowerOptions<S>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = options;
  const follower = new ConfigFollower(options);
  try {
    for (;;) await clock.sleep(await follower.look(), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The result of a look: a text, or why there was none. */
type Sight = { readonly text: string } | { readonly error: ConfigError };

class ConfigFollower<S> {
  readonly #options: ConfigFollowerOptions<S>;
  #current: Pick<ProviderConfig<S>, "settings" | "sections">;
  /** Digest of the last look. The content may be secret and large, so only digests are kept. */
  #seen: string | undefined;
  /** Digest of the content that was checked last. */
  #judged: string | undefined;
  /** Whether the content that was checked last was refused. */
  #isRefused = false;
  readonly #refusals: MessageDedup;

  constructor(options: ConfigFollowerOptions<S>) {
    this.#options = options;
    const { settings, sections } = options.current;
    this.#current = { settings, sections };
    this.#refusals = new MessageDedup({ clock: options.clock, afterMs: REMIND_MS });
  }

  /** Looks at the file, and checks it if needed. @returns Milliseconds until the next look */
  async look(): Promise<number> {
    const sight = await see(this.#options);
    const digest = toDigest(sight);
    const isSame = digest === this.#seen;
    this.#seen = digest;
    // Refused content is checked again at each look: a file that it names, such as caFile, may exist by now.
    const isInUse = digest === this.#judged && !this.#isRefused;
    if (isInUse) return LOOK_MS;
    if (!isSame) return SETTLE_MS;
    this.#judged = digest;
    await this.#judge(sight);
    return LOOK_MS;
  }

  async #judge(sight: Sight): Promise<void> {
    const { onOutcome } = this.#options;
    const wasRefused = this.#isRefused;
    try {
      const config = await this.#use(sight);
      this.#isRefused = false;
      this.#refusals.end();
      if (config) onOutcome({ kind: "applied", warnings: config.warnings });
      else if (wasRefused) onOutcome({ kind: "withdrawn" });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { issues } = error;
      this.#isRefused = true;
      const isNew = this.#refusals.isNew(JSON.stringify([this.#judged, issues]));
      if (isNew) onOutcome({ kind: "refused", issues });
    }
  }

  /** @returns `undefined` when the content is in use already */
  async #use(sight: Sight): Promise<ProviderConfig<S> | undefined> {
    if ("error" in sight) throw sight.error;
    const { path, apply } = this.#options;
    const config = await parseProviderConfig(sight.text, this.#options);
    const { settings, sections } = config;
    if (isDeepStrictEqual({ settings, sections }, this.#current)) return undefined;
    if (config.isEmpty) throw new ConfigError([{ source: path, message: EMPTIED }]);
    await config.use(() => apply(config));
    this.#current = { settings, sections };
    return config;
  }
}

async function see({
  path,
  read = readConfigText,
}: Pick<ConfigFollowerOptions<unknown>, "path" | "read">): Promise<Sight> {
  try {
    return { text: await read(path) };
  } catch (error) {
    if (error instanceof ConfigError) return { error };
    throw error;
  }
}

function toDigest(sight: Sight): string {
  const [kind, content] = "text" in sight ? ["text", sight.text] : ["error", sight.error.message];
  return createHash("sha256").update(`${kind} ${content}`).digest("base64");
}
