/**
 * Certificate and key of the HTTPS port: read from files, checked, and read again when they change.
 * @module
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { ConfigError, type ConfigIssue, describeError } from "../../core/errors.ts";
import { describeFileProblem, readSmallText, toTriedPath } from "../../core/small_file.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";
import { mustBe } from "../../core/text/values.ts";
import type { KeyPair } from "../sockets/server.ts";

/** The files with certificate and key. */
export interface KeyPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What messages call a port with a certificate, and the flags of its files. */
export interface CertifiedPort {
  /** `the HTTPS port`. */
  readonly name: string;
  readonly certFlag: string;
  readonly keyFlag: string;
}

/** The port of probes, metrics and pages. */
export const HTTPS_PORT: CertifiedPort = {
  name: "the HTTPS port",
  certFlag: "--tls-cert-file",
  keyFlag: "--tls-private-key-file",
};

/** How often the files are read. A mounted Secret changes about once a minute at most. */
const LOOK_MS = 10_000;

/**
 * Reads certificate and key and checks that they belong together. Accepts an expired certificate, so that clients that
 * do not check it, for example probes, continue to work.
 *
 * @throws {ConfigError} with flags, files and all problems; never with the content of the key
 */
export async function readKeyPair(
  files: KeyPairFiles,
  port: CertifiedPort = HTTPS_PORT,
): Promise<KeyPair> {
  const keyPair = await readFiles(files, port);
  checkKeyPair(keyPair, files, port);
  return keyPair;
}

async function readFiles(
  { certFile, keyFile }: KeyPairFiles,
  { certFlag, keyFlag }: CertifiedPort,
): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readText(certFlag, certFile), readText(keyFlag, keyFile)]);
  if (typeof cert === "string" && typeof key === "string") return { cert, key };
  throw new ConfigError([cert, key].filter((one) => typeof one !== "string"));
}

function readText(source: string, file: string): Promise<string | ConfigIssue> {
  return readSmallText(file).catch((error: unknown) => ({
    source,
    message: `${toTriedPath(file)}: ${describeFileProblem(error)}`,
  }));
}

function checkKeyPair(
  keyPair: KeyPair,
  { certFile, keyFile }: KeyPairFiles,
  { certFlag, keyFlag }: CertifiedPort,
): void {
  const certificate = attempt(() => new X509Certificate(keyPair.cert));
  const key = attempt(() => createPrivateKey(keyPair.key));
  const issues: ConfigIssue[] = [];
  const tell = (source: string, file: string, problem: string): void => {
    issues.push({ source, message: `${file}: ${problem}` });
  };
  if (certificate === undefined) tell(certFlag, certFile, mustBe("a certificate in PEM"));
  if (key === undefined) tell(keyFlag, keyFile, mustBe("a private key in PEM, without a password"));
  if (certificate && key && !certificate.checkPrivateKey(key)) {
    tell(keyFlag, keyFile, `the key does not belong to the certificate in ${certFile}`);
  }
  // Only this checks the certificates after the first one.
  if (issues.length === 0 && attempt(() => createSecureContext({ ...keyPair })) === undefined) {
    tell(certFlag, certFile, "a certificate after the first one is broken");
  }
  if (issues.length > 0) throw new ConfigError(issues);
}

/** What {@linkcode watchKeyPair} needs. */
interface WatchKeyPairOptions extends KeyPairFiles {
  /** The pair from the start. */
  readonly current: KeyPair;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with each new pair that is complete and differs from the last one. */
  readonly use: (keyPair: KeyPair) => void;
  /** @default {the HTTPS port} */
  readonly port?: CertifiedPort;
}

/**
 * Reads the files every ten seconds until the signal aborts. A broken pair, for example while a program writes the
 * files, changes nothing and is logged once.
 */
export async function watchKeyPair(
  { current, clock, log, use, port = HTTPS_PORT, ...files }: WatchKeyPairOptions,
  signal: AbortSignal,
): Promise<void> {
  let used = current;
  const reported = new MessageDedup();
  for (;;) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const found = await readFiles(files, port);
      const isNew = !isSame(found, used);
      if (isNew) checkKeyPair(found, files, port);
      reported.end();
      if (!isNew) continue;
      use(found);
      used = found;
      log.info(`The certificate of ${port.name} changed`, { ...describe(found.cert) });
    } catch (error) {
      if (!reported.isNew(describeError(error))) continue;
      log.warn("Cannot use the new certificate; still using the old one", { error });
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

/** @returns `undefined` if it throws */
function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
