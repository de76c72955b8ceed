/**
 * Reads the flags of `landfall check`.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { ConfigError } from "../../core/errors.ts";
import { parseList } from "../../core/text/values.ts";
import type { Impersonation } from "../../kube/credentials/credentials.ts";
import type { LeaseName } from "../../kube/election/lease.ts";
import { toOwnLease } from "../flags/election.ts";
import type { GivenFlags } from "../flags/given.ts";
import { CHECK_FLAGS } from "../flags/command_flags.ts";
import { type ParsedFlags, parseFlags } from "../flags/mod.ts";

/** Format of the report. */
type CheckOutput = "text" | "json";

/** What `landfall check` was asked for. */
export interface CheckFlags extends ParsedFlags {
  readonly output: CheckOutput;
  /** Whether the text leaves out what is ok. */
  readonly isProblemsOnly: boolean;
  /** Whether warnings make the exit code 1, too. */
  readonly isStrict: boolean;
  /** Whether equal findings stand each for itself in the text. */
  readonly isEach: boolean;
  /** Whose permissions are checked; absent: those of the credentials. */
  readonly impersonation?: Impersonation;
  /** The Lease of the flags, also with `--leader-elect=false`. */
  readonly ownLease: LeaseName;
  /** Whether a flag names the Lease. */
  readonly isLeaseNamed: boolean;
}

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
    isEach: given.bool("all"),
    isStrict: given.text("fail-on") === "warn",
    ...(impersonation && { impersonation }),
    ownLease: toOwnLease(given),
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
