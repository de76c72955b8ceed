/**
 * Certificate and key of the HTTPS port: read from files, checked, and read again when they change.
 * @module
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { ConfigError, type ConfigIssue, describeError } from "../../core/errors.ts";
import { describeFileProblem } from "../../core/file_problem.ts";
import type { Logger } from "../../core/log.ts";
import { News } from "../../core/news.ts";
import { readSmallText } from "../../core/small_file.ts";
import type { KeyPair } from "../sockets/server.ts";

/** Where certificate and key are. */
export interface KeyPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** How often files are looked at. A Secret that is mounted changes about once a minute at most. */
const LOOK_MS = 10_000;
const CERT_FLAG = "--tls-cert-file";
const KEY_FLAG = "--tls-private-key-file";

/**
 * Reads certificate and key and checks that they belong together. A certificate that has expired is used all the same:
 * whoever does not check it, such as a probe, goes on as before.
 *
 * @throws {ConfigError} naming flags, files and everything that is wrong; never what is in the key
 */
export async function readKeyPair(files: KeyPairFiles): Promise<KeyPair> {
  const keyPair = await readFiles(files);
  checkKeyPair(keyPair, files);
  return keyPair;
}

async function readFiles({ certFile, keyFile }: KeyPairFiles): Promise<KeyPair> {
  const [cert, key] = await Promise.all([
    readText(CERT_FLAG, certFile),
    readText(KEY_FLAG, keyFile),
  ]);
  if (typeof cert === "string" && typeof key === "string") return { cert, key };
  throw new ConfigError([cert, key].filter((one) => typeof one !== "string"));
}

function readText(source: string, file: string): Promise<string | ConfigIssue> {
  return readSmallText(file).catch((error: unknown) => ({
    source,
    message: `${file}: ${describeFileProblem(error)}`,
  }));
}

function checkKeyPair(keyPair: KeyPair, { certFile, keyFile }: KeyPairFiles): void {
  const certificate = parseCertificate(keyPair.cert);
  const key = parseKey(keyPair.key);
  const issues: ConfigIssue[] = [];
  const tell = (source: string, file: string, problem: string): void => {
    issues.push({ source, message: `${file}: ${problem}` });
  };
  if (certificate === undefined) tell(CERT_FLAG, certFile, "wanted a certificate in PEM");
  if (key === undefined) tell(KEY_FLAG, keyFile, "wanted a private key in PEM, without a password");
  if (certificate && key && !certificate.checkPrivateKey(key)) {
    tell(KEY_FLAG, keyFile, `the key does not belong to the certificate in ${certFile}`);
  }
  // Only now are the certificates after the first one looked at.
  if (issues.length === 0 && !canServe(keyPair)) {
    tell(CERT_FLAG, certFile, "a certificate after the first one is broken");
  }
  if (issues.length > 0) throw new ConfigError(issues);
}

/** What {@linkcode watchKeyPair} works with. */
export interface WatchKeyPairOptions extends KeyPairFiles {
  /** What was read at the start. */
  readonly current: KeyPair;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes each pair that differs from the one before and is whole. */
  readonly use: (keyPair: KeyPair) => void;
}

/**
 * Looks at the content of the files every ten seconds until the signal aborts. A pair that is broken, which it may be
 * while it is written, changes nothing; that is warned of once.
 */
export async function watchKeyPair(
  { current, clock, log, use, ...files }: WatchKeyPairOptions,
  signal: AbortSignal,
): Promise<void> {
  let used = current;
  let seen = current;
  const news = new News();
  for (;;) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const found = await readFiles(files);
      if (isSame(found, seen)) continue;
      seen = found;
      checkKeyPair(found, files);
      news.end();
      if (isSame(found, used)) continue;
      use(found);
      used = found;
      log.info("The certificate of the HTTPS port changed", { ...describe(found.cert) });
    } catch (error) {
      if (!news.isNew(describeError(error))) continue;
      log.warn("The new certificate cannot be used, the old one stays", { error });
    }
  }
}

function isSame(one: KeyPair, other: KeyPair): boolean {
  return one.cert === other.cert && one.key === other.key;
}

function describe(cert: string): { readonly serial: string; readonly until: string } {
  const { serialNumber, validTo } = new X509Certificate(cert);
  return { serial: serialNumber, until: validTo };
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function canServe({ cert, key }: KeyPair): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
