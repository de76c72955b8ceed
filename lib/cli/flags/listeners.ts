/**
 * The flags for the addresses that Landfall listens at.
 * @module
 */
import { isIP } from "node:net";
import type { AppOptions, SecureSettings } from "../../app/options.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { isLoopbackHost, parseIp } from "../../core/net/ip.ts";
import { type ListenAddress, parseListenAddress } from "../../core/net/listen_address.ts";
import { mustBe, mustBeText, parseList } from "../../core/text/values.ts";
import { quote } from "../../core/text/printable.ts";
import type { GivenFlags } from "./given.ts";

const PORT_MAX = 65_535;
const EVERYWHERE = "0.0.0.0";

/**
 * Reads `--debug-address`, `--secure-port` and the flags that belong to them.
 *
 * @param issues Takes what is wrong
 */
export function toListeners(
  given: GivenFlags,
  issues: ConfigIssue[],
): Pick<AppOptions, "debugAddress" | "secure"> {
  const debugAddress = toDebugAddress(given.text("debug-address"), issues);
  const secure = toSecure(given, issues);
  const port = secure?.address.kind === "tcp" ? secure.address.port : undefined;
  if (debugAddress?.kind === "tcp" && debugAddress.port === port) {
    const message = mustBe("another port than that of --debug-address", String(port));
    issues.push({ source: "--secure-port", message });
  }
  return { ...(debugAddress && { debugAddress }), ...(secure && { secure }) };
}

function toSecure(given: GivenFlags, issues: ConfigIssue[]): SecureSettings | undefined {
  const port = given.int("secure-port", 0, PORT_MAX, issues);
  const text = given.text("bind-address") || EVERYWHERE;
  if (isIP(text) === 0) {
    issues.push({ source: "--bind-address", message: mustBeText("an IP address", text) });
  }
  // An address with a zone has no canonical form.
  const host = parseIp(text)?.text ?? text;
  const certFile = given.text("tls-cert-file");
  const keyFile = given.text("tls-private-key-file");
  if ((certFile === "") !== (keyFile === "")) {
    const [missing, there] = certFile === "" ? FILES : FILES.toReversed();
    issues.push({ source: `--${missing}`, message: `required together with --${there}` });
  }
  const alwaysAllowPaths = parseList(given.text("authorization-always-allow-paths"));
  for (const path of alwaysAllowPaths) {
    const problem = findPathProblem(path);
    if (problem === undefined) continue;
    const message = `${problem}, but one of them is ${quote(path)}`;
    issues.push({ source: "--authorization-always-allow-paths", message });
  }
  if (port === 0) return undefined;
  const files = certFile && keyFile ? { certFile, keyFile } : {};
  return { address: { kind: "tcp", host, port }, ...files, alwaysAllowPaths };
}

/** The Go controllers refuse a `*` elsewhere, too: it would match only itself, and no path has one. */
function findPathProblem(path: string): string | undefined {
  if (!path.startsWith("/")) return mustBe('paths that begin with "/"');
  return path.slice(0, -1).includes("*") ? mustBe('paths with "*" only at the end') : undefined;
}

const FILES = ["tls-cert-file", "tls-private-key-file"] as const;

/**
 * Reads the address of the debug listener.
 *
 * @param source The flag or variable that has it
 * @param issues Takes what is wrong
 * @returns `undefined` when it is empty or wrong
 */
export function toDebugAddress(
  text: string,
  issues: ConfigIssue[],
  source: string = "--debug-address",
): ListenAddress | undefined {
  if (text === "") return undefined;
  try {
    const address = parseListenAddress(text);
    if (address.kind === "unix" || isLoopbackHost(address.host)) return address;
    const problem = mustBeText("a loopback address or a unix socket", text);
    const message = `${problem}: the debug listener has no access control`;
    issues.push({ source, message });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    issues.push({ source, message: error.message });
  }
  return undefined;
}
