/**
 * Checks certificates, keys and tokens before use, because a failed request does not say what is wrong.
 * @module
 */
import { mustBe } from "../../core/text/values.ts";
import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { CertificateError, parseCertificates } from "../../core/http/connection.ts";
import { type SettingPlace, toConfigError } from "./problem.ts";

/** PEM and its place. */
export interface PlacedPem {
  readonly pem: string;
  readonly place: SettingPlace;
}

const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/**
 * Checks a bundle of certificates.
 *
 * @returns The same PEM
 * @throws {ConfigError} if it has no certificate, or one cannot be decoded
 */
export function checkCertificates(given: PlacedPem): string {
  toCertificates(given);
  return given.pem;
}

/**
 * Checks that a client certificate and a key can be decoded and belong together.
 *
 * @throws {ConfigError} with the wrong one
 */
export function checkKeyPair(cert: PlacedPem, key: PlacedPem): { cert: string; key: string } {
  const [leaf] = toCertificates(cert);
  if (ENCRYPTED_KEY.test(key.pem)) {
    throw toConfigError(key.place, "the private key is encrypted; use one without a passphrase");
  }
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(key.pem);
  } catch {
    throw toConfigError(key.place, mustBe("a private key in PEM"));
  }
  if (!leaf.checkPrivateKey(parsed)) {
    throw toConfigError(
      key.place,
      `the private key does not belong to the client certificate (${cert.place.path ?? cert.place.source})`,
    );
  }
  return { cert: cert.pem, key: key.pem };
}

/**
 * Decodes a `*-data` field: PEM in base64.
 *
 * @throws {ConfigError} when it is not base64
 */
export function decodePem(base64: string, place: SettingPlace): PlacedPem {
  const compact = base64.replaceAll(/\s/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
    throw toConfigError(place, mustBe("base64"));
  }
  return { pem: Buffer.from(compact, "base64").toString("utf8"), place };
}

function toCertificates({
  pem,
  place,
}: PlacedPem): readonly [X509Certificate, ...X509Certificate[]] {
  try {
    return parseCertificates(pem);
  } catch (error) {
    if (error instanceof CertificateError) throw toConfigError(place, error.message);
    throw error;
  }
}

/**
 * Checks that a header can hold a token.
 *
 * @throws {ConfigError} without the token
 */
export function checkToken(token: string, place: SettingPlace): string {
  if (token === "") throw toConfigError(place, "the token is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw toConfigError(place, "the token contains white space or characters that are not ASCII");
  }
  return token;
}
