/**
 * Reads argv into the settings of the process, and reports all problems at once.
 * @module
 */
import type { ElectionSettings, SecureSettings } from "../../app/options.ts";
import type {
  ControllerDefinition,
  ControllerFlag,
  FlagValues,
} from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { mustBe, mustBeText, parseList } from "../../core/text/values.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";
import { listControllerNames, selectControllers } from "./controllers.ts";
import { toElection } from "./election.ts";
import { type CommandInput, readAll, throwIssues } from "./own.ts";
import { listFlags } from "./table.ts";
import type { FlagToken } from "./tokens.ts";
import type { GivenFlags } from "./given.ts";
import { toListeners } from "./listeners.ts";

/** Settings of the process from its flags. Empty texts are absent. */
export interface Settings {
  /** Name of the provider. The registry may not have it. */
  readonly cloudProvider: string;
  /** File with the provider's settings. */
  readonly cloudConfig?: string;
  readonly kubeconfig?: string;
  /** URL of the API server. */
  readonly master?: string;
  /** Names of the controllers to run. */
  readonly controllers: ReadonlySet<string>;
  readonly concurrentNodeSyncs: number;
  /** Values of the controllers' own flags. */
  readonly flags: FlagValues;
  /** Address of the debug listener; absent: there is none. */
  readonly debugAddress?: ListenAddress;
  /** The HTTPS port; absent: it is off. */
  readonly secure?: SecureSettings;
  /** How replicas elect a leader; absent: this process acts immediately. */
  readonly election?: ElectionSettings;
  readonly loggingFormat: "json" | "text";
  readonly logLevel: "debug" | "info";
  readonly isVersionWanted: boolean;
  readonly isHelpWanted: boolean;
}

/** Settings, and warnings about how they were written, one line each. */
export interface ParsedFlags {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  /** Flags that set something and their values, given or not, for `/configz`. */
  readonly configz: Readonly<Record<string, string>>;
  /** Names of the controllers that `--controllers` names itself, not only by `*`. */
  readonly named: ReadonlySet<string>;
  /** All values by the name of the flag. */
  readonly given: GivenFlags;
  /** Arguments that are no flags. */
  readonly args: readonly string[];
}

const VERBOSITY_DEBUG_MIN = 4;
const CONCURRENT_NODE_SYNCS_MAX = 1_000;

/**
 * Reads the flags of the controller in all forms that the Go cloud controller managers accept.
 *
 * With `--help` or `--version` it reports nothing else.
 *
 * @param argv Arguments after the program and the command
 * @param registry The available controllers
 * @param input What the command takes beside them
 * @throws {ConfigError} with everything that is wrong
 */
export function parseFlags(
  argv: readonly string[],
  registry: readonly ControllerDefinition[] = CONTROLLERS,
  { flags: own = [], argsMax = 0 }: CommandInput = {},
): ParsedFlags {
  const flags = [...own, ...listFlags(registry)];
  const { given, args, usable, issues: unread, slips, refused } = readAll(argv, flags, argsMax);
  const { settings, warnings, named, issues: unusable } = toSettings(given, registry);
  if (!settings.isHelpWanted && !settings.isVersionWanted) {
    throwIssues(unread, slips, [...refused, ...unusable]);
  }
  const all = [...listInapplicable(usable), ...warnings];
  const configz = given.listEffective();
  return { settings, warnings: all, configz, named, given, args };
}

function toSettings(
  given: GivenFlags,
  registry: readonly ControllerDefinition[],
): Pick<ParsedFlags, "settings" | "warnings" | "named"> & { issues: ConfigIssue[] } {
  const names = listControllerNames(registry);
  const selection = selectControllers(parseList(given.text("controllers")), names);
  const issues = [...selection.issues];
  const concurrent = given.int("concurrent-node-syncs", 1, CONCURRENT_NODE_SYNCS_MAX, issues);
  const flags = toFlagValues(given, registry, issues);
  if (given.text("cloud-provider") === "") {
    issues.push({
      source: "--cloud-provider",
      message: mustBe("the name of a cloud provider", "empty"),
    });
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
  const judged = registry
    .filter(({ name }) => selection.enabled.has(name))
    .flatMap((one) => one.judgeFlags?.(flags) ?? []);
  const unread = new Set(issues.map(({ source }) => source));
  const unfit = judged.flatMap((one) => one.issues).filter(({ source }) => !unread.has(source));
  const { named } = selection;
  const warnings = [...selection.warnings, ...judged.flatMap((one) => one.warnings)];
  return { settings, warnings, named, issues: [...issues, ...unfit] };
}

function toFlagValues(
  given: GivenFlags,
  registry: readonly ControllerDefinition[],
  issues: ConfigIssue[],
): FlagValues {
  const flags = new Set(registry.flatMap((one) => one.flags));
  return Object.fromEntries([...flags].map((flag) => [flag.name, readOne(given, flag, issues)]));
}

function readOne(
  given: GivenFlags,
  flag: ControllerFlag,
  issues: ConfigIssue[],
): FlagValues[string] {
  const { name } = flag;
  if (flag.type === "string") {
    const text = given.text(name);
    const problem = flag.findProblem(text);
    const source = `--${name}`;
    if (problem !== undefined) issues.push({ source, message: mustBeText(problem, text) });
    return text;
  }
  const { type, range } = flag;
  return type === "duration"
    ? given.durationMs(name, range, issues)
    : given.int(name, ...range, issues);
}

/** One line for all flags without effect, each with its reason, however many there are. */
function listInapplicable(tokens: readonly FlagToken[]): string[] {
  const byReason = new Map<string, Set<string>>();
  for (const { spec } of tokens) {
    if (spec.effect !== "inapplicable") continue;
    byReason.set(spec.help, (byReason.get(spec.help) ?? new Set()).add(`--${spec.name}`));
  }
  const parts = [...byReason].map(([reason, names]) => `${[...names].join(" ")} (${reason})`);
  return parts.length === 0 ? [] : [`flags without effect: ${parts.join(", ")}`];
}
