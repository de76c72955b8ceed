/**
 * Certificates for servers that a test starts, made with openssl.
 * @module
 */
import { execFile } from "node:child_process";
import { writeFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tmpdir } from "node:os";

const run = promisify(execFile);
const EC_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
const OPENSSL_TIMEOUT_MS = 20_000;

/** A certificate and its key, as PEM files. */
export interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

function openssl(args: readonly string[]): Promise<unknown> {
  return run("openssl", [...args], { timeout: OPENSSL_TIMEOUT_MS });
}

function filesOf(folder: string, name: string): CertificateFiles {
  return { certPath: join(folder, `${name}.crt`), keyPath: join(folder, `${name}.key`) };
}

/** Makes a certificate authority that lasts a day. */
export async function createAuthority(folder: string, name: string): Promise<CertificateFiles> {
  const files = filesOf(folder, name);
  const subject = ["-subj", `/CN=${name}`, "-days", "1"];
  const uses = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"];
  const paths = ["-keyout", files.keyPath, "-out", files.certPath];
  await openssl(["req", "-x509", ...EC_KEY, ...subject, ...uses, ...paths]);
  return files;
}

/** Makes a certificate signed by `authority`. `extensions` are lines of an openssl extension file. */
export async function createCertificate(
  authority: CertificateFiles,
  options: {
    readonly folder: string;
    readonly name: string;
    /** `/O=group/CN=user` */
    readonly subject: string;
    readonly extensions: readonly string[];
  },
): Promise<CertificateFiles> {
  const files = filesOf(options.folder, options.name);
  const request = join(options.folder, `${options.name}.csr`);
  const extensions = join(options.folder, `${options.name}.ext`);
  await writeFile(extensions, `${options.extensions.join("\n")}\n`);
  const paths = ["-keyout", files.keyPath, "-out", request];
  await openssl(["req", ...EC_KEY, "-subj", options.subject, ...paths]);
  const signer = ["-CA", authority.certPath, "-CAkey", authority.keyPath, "-CAcreateserial"];
  const output = ["-extfile", extensions, "-days", "1", "-out", files.certPath];
  await openssl(["x509", "-req", "-in", request, ...signer, ...output]);
  return files;
}

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
  try {
    await writeFile(path("config"), toConfig(folder));
    await writeFile(path("index"), "");
    await writeFile(path("serial"), crypto.randomUUID().replaceAll("-", ""));
    const request = ["-keyout", path("key"), "-out", path("request")];
    await openssl(["req", ...EC_KEY, "-subj", subject, ...request]);
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
