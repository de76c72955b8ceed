/**
 * Flags: from argv to the settings of the process, all problems reported at once.
 * @module
 */
import { isIP } from "node:net";
import { formatDuration, parseDuration } from "../core/duration.ts";
import { ConfigError } from "../core/errors.ts";
import type { ConfigIssue } from "../core/errors.ts";
import { isLoopbackHost, parseListenAddress } from "../http/listen_address.ts";
import type { ListenAddress } from "../http/listen_address.ts";
import { selectControllers } from "./controllers_flag.ts";
import type { FlagSpec } from "./flag_spec.ts";
import { FLAGS } from "./flag_table.ts";
import { readFlagTokens } from "./flag_tokens.ts";
import type { FlagToken } from "./flag_tokens.ts";
import { findValueProblem, parseBool, parseList } from "./flag_values.ts";

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
  /** How often every Node is looked at, whatever happens. */
  readonly nodeStatusUpdateFrequencyMs: number;
  /** How often Nodes that are not Ready are looked at. */
  readonly nodeMonitorPeriodMs: number;
  readonly concurrentNodeSyncs: number;
  /** Where probes, metrics and debug pages are served; absent: nowhere. */
  readonly debugAddress?: ListenAddress;
  /** Where probes and metrics alone are served (`--secure-port`); absent: nowhere. */
  readonly probeAddress?: ListenAddress;
  readonly loggingFormat: "json" | "text";
  readonly logLevel: "debug" | "info";
  readonly isVersionWanted: boolean;
  readonly isHelpWanted: boolean;
}

/** Settings, and what to tell the user about how they were written, one line each. */
export interface ParsedFlags {
  readonly settings: Settings;
  readonly warnings: readonly string[];
}

/** Least and most, both allowed. */
type Range = readonly [least: number, most: number];

const VERBOSITY_DEBUG_MIN = 4;
const CONCURRENT_NODE_SYNCS_MAX = 1_000;
const NODE_STATUS_UPDATE_MS: Range = [1_000, 24 * 3_600_000];
/** A pass reads memory only; still, without a pause there would be nothing else. */
const NODE_MONITOR_MS: Range = [100, 3_600_000];
const PORT_MAX = 65_535;
const LOOPBACK = "127.0.0.1";

/**
 * Reads the flags of the controller in all forms that the Go cloud controller managers accept.
 *
 * With `--help` or `--version` nothing else is complained about.
 *
 * @param argv Arguments after the program and the command
 * @throws {ConfigError} with everything that is wrong
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { tokens, issues: unread, slips } = readFlagTokens(argv, FLAGS);
  const { usable, issues: refused } = sortTokens(tokens);
  const { settings, warnings, issues: unusable } = toSettings(usable);
  const refusals = [...refused, ...unusable];
  // Advice on how to write a value that is refused would only lead to the next error.
  const slipped = slips.filter(({ source }) => !refusals.some((one) => one.source === source));
  const issues = [...unread, ...slipped, ...refusals];
  if (issues.length > 0 && !settings.isHelpWanted && !settings.isVersionWanted) {
    throw new ConfigError(issues);
  }
  return { settings, warnings: [...listInapplicable(usable), ...warnings] };
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

function toSettings(tokens: readonly FlagToken[]): ParsedFlags & { issues: ConfigIssue[] } {
  const given = new GivenFlags(tokens);
  const selection = selectControllers(parseList(given.text("controllers")));
  const issues = [...selection.issues];
  const warnings = [...selection.warnings];
  const concurrent = given.int("concurrent-node-syncs", 1, CONCURRENT_NODE_SYNCS_MAX, issues);
  const frequencyMs = given.durationMs(
    "node-status-update-frequency",
    NODE_STATUS_UPDATE_MS,
    issues,
  );
  const monitorMs = given.durationMs("node-monitor-period", NODE_MONITOR_MS, issues);
  if (given.text("cloud-provider") === "") {
    issues.push({ source: "--cloud-provider", message: "wanted the name of a provider" });
  }
  if (given.bool("leader-elect")) {
    issues.push({
      source: "--leader-elect",
      message: "there is no leader election yet; run one replica with --leader-elect=false",
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
    nodeStatusUpdateFrequencyMs: frequencyMs,
    nodeMonitorPeriodMs: monitorMs,
    concurrentNodeSyncs: concurrent,
    ...toListeners(given, issues, warnings),
    loggingFormat: given.text("logging-format") === "json" ? "json" : "text",
    logLevel: given.int("v", 0, 10, issues) >= VERBOSITY_DEBUG_MIN ? "debug" : "info",
    isVersionWanted: given.bool("version"),
    isHelpWanted: given.bool("help"),
  };
  return { settings, warnings, issues };
}

function toListeners(
  given: GivenFlags,
  issues: ConfigIssue[],
  warnings: string[],
): Pick<Settings, "debugAddress" | "probeAddress"> {
  const debugAddress = toDebugAddress(given.text("debug-address"), issues);
  const port = given.int("secure-port", 0, PORT_MAX, issues);
  const wanted = given.text("bind-address") || LOOPBACK;
  const host = isLoopbackHost(wanted) ? wanted : LOOPBACK;
  if (host !== wanted && isIP(wanted) === 0) {
    issues.push({ source: "--bind-address", message: `wanted an IP address, found "${wanted}"` });
  }
  if (port === 0) return debugAddress === undefined ? {} : { debugAddress };
  if (host !== wanted) {
    warnings.push(
      `--bind-address: ${wanted} is narrowed to ${host}, as --secure-port has no HTTPS yet`,
    );
  }
  if (debugAddress?.kind === "tcp" && debugAddress.port === port) {
    issues.push({ source: "--secure-port", message: `--debug-address has port ${port} already` });
  }
  return { ...(debugAddress && { debugAddress }), probeAddress: { kind: "tcp", host, port } };
}

function toDebugAddress(text: string, issues: ConfigIssue[]): ListenAddress | undefined {
  if (text === "") return undefined;
  try {
    const address = parseListenAddress(text);
    if (address.kind === "unix" || isLoopbackHost(address.host)) return address;
    const message = `wanted a loopback address or a unix socket, found "${text}": it has no access control`;
    issues.push({ source: "--debug-address", message });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    issues.push({ source: "--debug-address", message: error.message });
  }
  return undefined;
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

/** The last value given for each flag, else its default. */
class GivenFlags {
  readonly #values = new Map<string, string>();

  constructor(tokens: readonly FlagToken[]) {
    for (const { spec, value } of tokens) {
      const before = spec.type === "list" ? this.#values.get(spec.name) : undefined;
      this.#values.set(spec.name, before === undefined ? value : `${before},${value}`);
    }
  }

  text(name: string): string {
    return this.#values.get(name) ?? findFlag(name).default;
  }

  bool(name: string): boolean {
    return parseBool(this.text(name)) === true;
  }

  int(name: string, least: number, most: number, issues: ConfigIssue[]): number {
    const value = Number(this.text(name));
    if (value < least || value > most) {
      const message = `wanted ${least} to ${most}, found ${value}`;
      issues.push({ source: `--${name}`, message });
    }
    return value;
  }

  durationMs(name: string, [least, most]: Range, issues: ConfigIssue[]): number {
    const ms = parseDuration(this.text(name));
    if (ms < least || ms > most) {
      const message = `wanted ${formatDuration(least)} to ${formatDuration(most)}`;
      issues.push({ source: `--${name}`, message: `${message}, found ${formatDuration(ms)}` });
    }
    return ms;
  }
}

function findFlag(name: string): FlagSpec {
  const spec = FLAGS.find((one) => one.name === name);
  if (spec === undefined) throw new TypeError(`Cannot read flag "${name}": it is not in the table`);
  return spec;
}
