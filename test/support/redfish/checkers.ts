/**
 * DMTF's own checkers of Redfish services: one for the protocol, and use cases of power and boot devices.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { REDFISH_CHECKERS } from "../../judges/install.ts";
import type { RedfishLogin } from "./python.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 240_000;
/** With one of these variables, the checkers check the certificate although they are told not to. */
const {
  REQUESTS_CA_BUNDLE: _bundle,
  CURL_CA_BUNDLE: _other,
  SSL_CERT_FILE: _file,
  ...ENV
} = process.env;

/** Checks the protocol. @returns What fails, sorted: `RESP_LINK GET /redfish/v1/Systems: why` */
export async function checkProtocol(login: RedfishLogin): Promise<readonly string[]> {
  const report = await check(login, "rf_protocol_validator", [
    "--no-cert-check",
    "--avoid-http-redirect",
    "--report-type=tsv",
  ]);
  const rows = report.filter(({ name }) => name.endsWith(".tsv")).flatMap(toLines);
  if (rows.length === 0) throw new Error("The checker of the protocol wrote no report");
  const failed = rows.flatMap((row) => {
    const [assertion, method, , path, result, why] = row.split("\t");
    return result === "FAIL" ? [`${assertion} ${method} ${path}: ${why}`] : [];
  });
  return [...new Set(failed)].toSorted();
}

/** Checks the use cases. The machine is switched on and off. @returns What fails, sorted */
export async function checkUseCases(login: RedfishLogin): Promise<readonly string[]> {
  const report = await check(login, "rf_use_case_checkers", [
    "--test-list",
    "PowerControl",
    "BootOverride",
  ]);
  const lines = report.filter(({ name }) => name.endsWith(".log")).flatMap(toLines);
  if (lines.length === 0) throw new Error("The checker of use cases wrote no report");
  const failed = lines.flatMap((line) => {
    const [, text] = / (?:WARNING|ERROR|CRITICAL) - (.*)$/.exec(line) ?? [];
    return text === undefined || /(?:occurred|failure).* during/.test(text) ? [] : [text];
  });
  return [...new Set(failed)].toSorted();
}

interface Report {
  readonly name: string;
  readonly text: string;
}

/** Runs a checker. It ends with a failure if it finds one. @returns The files that it wrote */
async function check(
  { url, username, password }: RedfishLogin,
  program: string,
  args: readonly string[],
): Promise<readonly Report[]> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-checkers-"));
  try {
    const login = ["-u", username, "-p", password, "-r", url, "--report-dir", folder];
    const path = join(REDFISH_CHECKERS.folder, "bin", program);
    const options = { cwd: folder, env: ENV, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    await run(path, [...login, ...args], options).catch((error: unknown) => {
      if (typeof Object(error).code !== "number") throw error;
    });
    const names = await readdir(folder, { recursive: true });
    const files = names.filter((name) => /\.(?:tsv|log)$/.test(name));
    return await Promise.all(
      files.map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8") })),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

function toLines({ text }: Report): string[] {
  return text.split("\n");
}
