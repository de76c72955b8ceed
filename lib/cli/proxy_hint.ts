/**
 * Whether a connection that failed may have been one to a proxy of the environment.
 * @module
 */
import { isLoopbackHost } from "../core/net/ip.ts";
import type { CheckFinding } from "./check/report.ts";
import type { CommandContext } from "./command.ts";

/** What a failed connection to a proxy looks like: as one to the server that was to be reached through it. */
const CODES: ReadonlySet<string> = new Set([
  "dns",
  "refused",
  "timeout",
  "noRoute",
  "closed",
  "notTls",
]);
const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"] as const;

/**
 * Adds to the advice of a failed connection that the environment names a proxy, for nothing in the failure tells which
 * of the two could not be reached. The proxy itself is not shown: its address may hold a password.
 *
 * @param endpoint Host and port of the server, or its host alone: our own machine is never asked through a proxy
 * @returns The finding as it is where no proxy can be to blame
 */
export function hintAtProxy(
  finding: CheckFinding,
  endpoint: string,
  env: CommandContext["env"],
): CheckFinding {
  if (isLoopbackHost(URL.parse(`http://${endpoint}`)?.hostname ?? "")) return finding;
  const set = VARIABLES.filter((name) => (env[name] ?? "") !== "");
  if (finding.level !== "failure" || !CODES.has(finding.code) || set.length === 0) {
    return finding;
  }
  const isOne = set.length === 1;
  const hint =
    `${set.join(" and ")} ${isOne ? "is" : "are"} set, so it may be the proxy that failed: ` +
    `check ${isOne ? "it" : "them"}, or name the host in NO_PROXY`;
  return { ...finding, advice: finding.advice === undefined ? hint : `${finding.advice}; ${hint}` };
}
