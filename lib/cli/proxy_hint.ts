/**
 * Says that a proxy of the environment may be the reason for a failed connection.
 * @module
 */
import { isLoopbackHost } from "../core/net/ip.ts";
import type { CheckFinding } from "./check/report.ts";
import type { CommandContext } from "./command.ts";

/** A failed connection to a proxy has the same codes as one to the server behind it. */
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
 * If the environment names a proxy, adds to the advice on a failed connection that the proxy may be the cause: the
 * failure does not say which of the two was unreachable. Never shows the address of the proxy, which may contain a
 * password.
 *
 * @param endpoint Host and port of the server, or only its host; loopback is never reached through a proxy
 * @returns The same finding if no proxy can be the cause
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
    `${set.join(" and ")} ${isOne ? "is" : "are"} set, so the proxy may have failed: ` +
    `check ${isOne ? "it" : "them"}, or add the host to NO_PROXY`;
  return { ...finding, advice: finding.advice === undefined ? hint : `${finding.advice}; ${hint}` };
}
