/**
 * Client certificates that end after seconds, made with openssl.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { CertificateFiles } from "./certificates.ts";

const run = promisify(execFile);
const OPENSSL_TIMEOUT_MS = 20_000;

/**
 * Makes a client certificate.
 *
 * @param authority Signs it
 * @param subject `/CN=user`
 * @param lifeMs How long it is good from now on
 * @returns Certificate and key as PEM
 */
export async function createShortCertificate(
  authority: CertificateFiles,
  subject: string,
  lifeMs: number,
): Promise<{ readonly cert: string; readonly key: string }> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-certificate-"));
  const path = (name: string): string => join(folder, name);
  const openssl = (args: readonly string[]): Promise<unknown> =>
    run("openssl", [...args], { timeout: OPENSSL_TIMEOUT_MS });
  try {
    await writeFile(path("config"), toConfig(folder));
    await writeFile(path("index"), "");
    await writeFile(path("serial"), crypto.randomUUID().replaceAll("-", ""));
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const request = ["-keyout", path("key"), "-out", path("request")];
    await openssl(["req", ...key, "-subj", subject, ...request]);
    const now = Date.now();
    const dates = ["-startdate", toTime(now - 60_000), "-enddate", toTime(now + lifeMs)];
    const signer = ["-cert", authority.certPath, "-keyfile", authority.keyPath];
    const how = ["-batch", "-notext", "-config", path("config"), "-extensions", "client"];
    const files = ["-in", path("request"), "-out", path("certificate")];
    await openssl(["ca", ...how, ...signer, ...dates, ...files]);
    return {
      cert: await readFile(path("certificate"), "utf8"),
      key: await readFile(path("key"), "utf8"),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What `openssl ca` wants to know, the only command of openssl 3.0 that takes an end in seconds. */
function toConfig(folder: string): string {
  return `[ca]
default_ca = here
[here]
database = ${folder}/index
serial = ${folder}/serial
new_certs_dir = ${folder}
default_md = sha256
policy = any
[any]
commonName = supplied
[client]
extendedKeyUsage = clientAuth
`;
}

/** `20261121195312Z` */
function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "")}Z`;
}
