/**
 * Flags: from argv to the settings of the process, all problems reported at once.
 * @module
 */
import type { ElectionSettings, SecureSettings } from "../../app/options.ts";
import type { ControllerDefinition } from "../../controllers/definition.ts";
import type { FlagValues } from "../../controllers/flags.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { ConfigError } from "../../core/errors.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import type { ListenAddress } from "../../http/sockets/listen_address.ts";
import { listControllerNames, selectControllers } from "./controllers.ts";
import { toElection } from "./election.ts";
import { listFlags } from "./table.ts";
import { readFlagTokens } from "./tokens.ts";
import type { FlagToken } from "./tokens.ts";
import { findValueProblem, parseList } from "./values.ts";
import { GivenFlags } from "./given.ts";
import { toListeners } from "./listeners.ts";

/** What the flags ask of the process. Texts that were left empty are absent. */
export interface Settings {
  /** Name of the provider; whether there is one of that name is for the registry to say. */
  readonly cloudProvider: string;
  /** File with the provider's settings. */
  readonly cloudConfig?: string;
  readonly kubeconfig?: string;
  /** URL of the API server. */
  readonly master?: string;
  /** Names of the controllers that run. */
  readonly controllers: ReadonlySet<string>;
  readonly concurrentNodeSyncs: number;
  /** Of the controllers' own flags. */
  readonly flags: FlagValues;
  /** Where probes, metrics and debug pages are served; absent: nowhere. */
  readonly debugAddress?: ListenAddress;
  /** The HTTPS port; absent: there is none. */
  readonly secure?: SecureSettings;
  /** How replicas agree on one that acts; absent: this process acts at once. */
  readonly election?: ElectionSettings;
  readonly loggingFormat: "json" | "text";
  readonly logLevel: "debug" | "info";
  readonly isVersionWanted: boolean;
  readonly isHelpWanted: boolean;
}

/** Settings, and what to tell the user about how they were written, one line each. */
export interface ParsedFlags {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  /** Flags that set something and their values, given or not, for `/configz`. */
  readonly configz: Readonly<Record<string, string>>;
  /** Names of the controllers that `--controllers` names itself, rather than by `*`. */
  readonly named: ReadonlySet<string>;
}

const VERBOSITY_DEBUG_MIN = 4;
const CONCURRENT_NODE_SYNCS_MAX = 1_000;

/**
 * Reads the flags of the controller in all forms that the Go cloud controller managers accept.
 *
 * With `--help` or `--version` nothing else is complained about.
 *
 * @param argv Arguments after the program and the command
 * @param registry The controllers that there are
 * @throws {ConfigError} with everything that is wrong
 */
export function parseFlags(
  argv: readonly string[],
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): ParsedFlags {
  const flags = listFlags(registry);
  const { tokens, issues: unread, slips } = readFlagTokens(argv, flags);
  const { usable, issues: refused } = sortTokens(tokens);
  const given = new GivenFlags(usable, flags);
  const { settings, warnings, configz, named, issues: unusable } = toSettings(given, registry);
  const refusals = [...refused, ...unusable];
  // Advice on how to write a value that is refused would only lead to the next error.
  const slipped = slips.filter(({ source }) => !refusals.some((one) => one.source === source));
  const issues = [...unread, ...slipped, ...refusals];
  if (issues.length > 0 && !settings.isHelpWanted && !settings.isVersionWanted) {
    throw new ConfigError(issues);
  }
  return { settings, warnings: [...listInapplicable(usable), ...warnings], configz, named };
}

/** Parts the tokens with usable values from the others, so that one bad value is one issue. */
function sortTokens(tokens: readonly FlagToken[]): { usable: FlagToken[]; issues: ConfigIssue[] } {
  const usable: FlagToken[] = [];
  const issues: ConfigIssue[] = [];
  for (const { spec, value } of tokens) {
    const problem = spec.effect === "removed" ? undefined : findValueProblem(spec, value);
    if (spec.effect === "removed") {
      issues.push({ source: `--${spec.name}`, message: `was removed; ${spec.help}` });
    } else if (problem === undefined) usable.push({ spec, value });
    else issues.push({ source: `--${spec.name}`, message: `${problem}, found "${value}"` });
  }
  return { usable, issues };
}

function toSettings(
  given: GivenFlags,
  registry: readonly ControllerDefinition[],
): ParsedFlags & { issues: ConfigIssue[] } {
  const names = listControllerNames(registry);
  const selection = selectControllers(parseList(given.text("controllers")), names);
  const issues = [...selection.issues];
  const concurrent = given.int("concurrent-node-syncs", 1, CONCURRENT_NODE_SYNCS_MAX, issues);
  const flags = toFlagValues(given, registry, issues);
  if (given.text("cloud-provider") === "") {
    issues.push({ source: "--cloud-provider", message: "wanted the name of a provider" });
  }
  const cloudConfig = given.text("cloud-config");
  const kubeconfig = given.text("kubeconfig");
  const master = given.text("master");
  const settings: Settings = {
    cloudProvider: given.text("cloud-provider"),
    ...(cloudConfig && { cloudConfig }),
    ...(kubeconfig && { kubeconfig }),
    ...(master && { master }),
    controllers: selection.enabled,
    concurrentNodeSyncs: concurrent,
    flags,
    ...toListeners(given, issues),
    ...(given.bool("leader-elect") && { election: toElection(given, issues) }),
    loggingFormat: given.text("logging-format") === "json" ? "json" : "text",
    logLevel: given.int("v", 0, 10, issues) >= VERBOSITY_DEBUG_MIN ? "debug" : "info",
    isVersionWanted: given.bool("version"),
    isHelpWanted: given.bool("help"),
  };
  const { warnings, named } = selection;
  return { settings, warnings, configz: given.listEffective(), named, issues };
}

function toFlagValues(
  given: GivenFlags,
  registry: readonly ControllerDefinition[],
  issues: ConfigIssue[],
): FlagValues {
  const flags = new Set(registry.flatMap((one) => one.flags));
  const values = [...flags].map(({ name, type, range }): [string, number] => [
    name,
    type === "duration" ? given.durationMs(name, range, issues) : given.int(name, ...range, issues),
  ]);
  return Object.fromEntries(values);
}

/** One line for all flags that do nothing here, each with its reason, however many a manifest carries. */
function listInapplicable(tokens: readonly FlagToken[]): string[] {
  const byReason = new Map<string, Set<string>>();
  for (const { spec } of tokens) {
    if (spec.effect !== "inapplicable") continue;
    byReason.set(spec.help, (byReason.get(spec.help) ?? new Set()).add(`--${spec.name}`));
  }
  const parts = [...byReason].map(([reason, names]) => `${[...names].join(" ")} (${reason})`);
  return parts.length === 0 ? [] : [`flags without effect: ${parts.join(", ")}`];
}
