/**
 * Redfish clients of Debian: sushy, which Ironic uses, and redfishtool.
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { PYTHON } from "../cloud/python_client.ts";
import { tlsPath } from "../net/tls_fixtures.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const REDFISHTOOL = "/usr/bin/redfishtool";
/** These variables would win over the authority that a client is told. */
const { REQUESTS_CA_BUNDLE: _bundle, CURL_CA_BUNDLE: _other, ...ENV } = process.env;

/** Whether a client is missing, which is said; in CI both must be there. */
export function lacksRedfishClients(): boolean {
  const lacked = [
    ...(spawnSync(PYTHON, ["-c", "import sushy"]).status === 0 ? [] : ["python3-sushy"]),
    ...(spawnSync("test", ["-x", REDFISHTOOL]).status === 0 ? [] : ["redfishtool"]),
  ];
  if (lacked.length === 0) return false;
  const text = `Redfish with real clients: install Debian's packages ${lacked.join(" ")}`;
  if (process.env["CI"] !== undefined) throw new Error(`Cannot test ${text}`);
  process.stderr.write(`\n*** SKIPPED: ${text} ***\n\n`);
  return true;
}

/** Where a client goes, and as whom. */
export interface RedfishLogin {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Runs lines of Python that know `root`, the service as sushy shows it, and `sushy`.
 *
 * @param auth `BasicAuth`, `SessionAuth` or `SessionOrBasicAuth`
 * @returns What `tell(value)` was called with, as JSON
 */
export async function runSushy(
  { url, username, password }: RedfishLogin,
  lines: string,
  auth = "SessionOrBasicAuth",
): Promise<unknown[]> {
  const head = [
    "import json, sys, sushy",
    "from sushy import auth",
    "def tell(value): print(json.dumps(value, default=str))",
    "url, user, password, ca = sys.argv[1:]",
    `login = auth.${auth}(user, password)`,
    "root = sushy.Sushy(url, auth=login, verify=ca)",
  ];
  const script = [...head, lines].join("\n");
  const args = ["-c", script, url, username, password, tlsPath("ca.crt")];
  const { stdout } = await run(PYTHON, args, { timeout: TIMEOUT_MS, env: ENV });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

/** Runs redfishtool. It checks no certificate. @returns What it prints, as JSON; its text if that is none */
export async function runRedfishtool(
  { url, username, password }: RedfishLogin,
  args: readonly string[],
): Promise<unknown> {
  const login = ["-r", new URL(url).host, "-S", "Always", "-u", username, "-p", password];
  const { stdout, stderr } = await run(REDFISHTOOL, [...login, ...args], { timeout: TIMEOUT_MS });
  try {
    return JSON.parse(stdout);
  } catch {
    return `${stdout}${stderr}`;
  }
}
