/**
 * Flags of `landfall check` beside those of `run`.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Impersonation } from "../../kube/credentials/mod.ts";
import type { GivenFlags } from "../flags/given.ts";
import type { FlagSpec } from "../flags/spec.ts";
import { parseList } from "../flags/values.ts";
import { type ParsedFlags, parseFlags } from "../flags/mod.ts";

/** Format of the report. */
export type CheckOutput = "text" | "json";

/** What `landfall check` was asked for. */
export interface CheckFlags extends ParsedFlags {
  readonly output: CheckOutput;
  /** Whether the text leaves out what is ok. */
  readonly isProblemsOnly: boolean;
  /** Whether warnings make the exit code 1, too. */
  readonly isStrict: boolean;
  /** Whose permissions are checked; absent: those of the credentials. */
  readonly impersonation?: Impersonation;
  /** Whether a flag names the Lease. */
  readonly isLeaseNamed: boolean;
}

/** Flags that `run` does not have. */
export const CHECK_FLAGS: readonly FlagSpec[] = [
  {
    name: "output",
    short: "o",
    type: "string",
    default: "text",
    help: "Format of the report: text, or json with stable names",
    effect: "applies",
    group: "Report",
    choices: ["text", "json"],
  },
  {
    name: "problems-only",
    type: "bool",
    default: "false",
    help: "Leave out of the text what is ok",
    effect: "applies",
    group: "Report",
  },
  {
    name: "fail-on",
    type: "string",
    default: "fail",
    help: "Exit with 1 on a problem (fail), or on a warning as well (warn)",
    effect: "applies",
    group: "Report",
    choices: ["fail", "warn"],
  },
  {
    name: "as",
    type: "string",
    default: "",
    help: "Check the permissions of this user: system:serviceaccount:NAMESPACE:NAME for a service account",
    effect: "applies",
    group: "Permissions",
  },
  {
    name: "as-group",
    type: "list",
    default: "",
    help: "Groups of the user of --as; a service account has its groups without this flag",
    effect: "applies",
    group: "Permissions",
  },
  {
    name: "as-uid",
    type: "string",
    default: "",
    help: "UID of the user of --as",
    effect: "applies",
    group: "Permissions",
  },
];

/**
 * Reads the flags.
 *
 * @param argv Arguments after the command
 * @param registry The available controllers
 * @throws {ConfigError} with everything that is wrong
 */
export function parseCheckFlags(
  argv: readonly string[],
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): CheckFlags {
  const parsed = parseFlags(argv, registry, { flags: CHECK_FLAGS });
  const { given, settings } = parsed;
  const impersonation = settings.isHelpWanted ? undefined : toImpersonation(given);
  return {
    ...parsed,
    output: given.text("output") === "json" ? "json" : "text",
    isProblemsOnly: given.bool("problems-only"),
    isStrict: given.text("fail-on") === "warn",
    ...(impersonation && { impersonation }),
    isLeaseNamed: given.has("leader-elect-resource-name"),
  };
}

function toImpersonation(given: GivenFlags): Impersonation | undefined {
  const [user, uid] = [given.text("as"), given.text("as-uid")];
  const groups = parseList(given.text("as-group"));
  if (user !== "") return { user, groups, ...(uid !== "" && { uid }) };
  const alone = ["as-group", "as-uid"].filter((name) => given.text(name) !== "");
  if (alone.length === 0) return undefined;
  throw new ConfigError(alone.map((name) => ({ source: `--${name}`, message: "needs --as" })));
}
