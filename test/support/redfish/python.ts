/**
 * sushy, the library by which Ironic speaks Redfish, of the version that the real Ironic of the tests has.
 * @module
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { IRONIC } from "../../judges/install.ts";
import { tlsPath } from "../net/tls_fixtures.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const PYTHON = join(IRONIC.folder, "bin", "python3");
/** These variables would win over the authority that a client is told. */
const { REQUESTS_CA_BUNDLE: _bundle, CURL_CA_BUNDLE: _other, ...ENV } = process.env;

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
