/**
 * A self-signed certificate, used if no files are given (RFC 5280), in DER (X.690).
 * @module
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { parseCidr } from "../../core/net/ip.ts";
import type { KeyPair } from "../sockets/server.ts";

/** How long a certificate is valid. */
const SELF_SIGNED_MS: number = 365 * 24 * 3_600_000;
/** Clocks differ. */
const BACKDATE_MS = 3_600_000;
const SERIAL_BYTES = 16;
const COMMON_NAME = "landfall";

/** Tags of the universal types of DER, and of the fields that a certificate numbers itself. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
  dnsName: 0x82,
  ipAddress: 0x87,
} as const;

/** Object identifiers, encoded: RFC 5280 and, for the signature, RFC 5758 section 3.2. */
const OID = {
  /** 1.2.840.10045.4.3.2 */
  ecdsaWithSha256: "2a8648ce3d040302",
  /** 2.5.4.3 */
  commonName: "550403",
  /** 2.5.29.15 */
  keyUsage: "551d0f",
  /** 2.5.29.17 */
  subjectAltName: "551d11",
  /** 2.5.29.19 */
  basicConstraints: "551d13",
  /** 2.5.29.37 */
  extKeyUsage: "551d25",
  /** 1.3.6.1.5.5.7.3.1 */
  serverAuth: "2b06010505070301",
} as const;

/**
 * Makes a certificate for a server and a new key on the curve P-256.
 *
 * @param names Host names and IP addresses, at least one
 * @param nowMs Milliseconds since the epoch; the certificate is valid for a year from then
 */
export function makeSelfSigned(names: readonly string[], nowMs: number): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = encode(TAG.sequence, oid("ecdsaWithSha256"));
  const name = toName(COMMON_NAME);
  const toSign = encode(
    TAG.sequence,
    // Version 3 counts from zero.
    encode(TAG.version, encode(TAG.integer, Buffer.of(2))),
    encode(TAG.integer, makeSerial()),
    algorithm,
    name,
    encode(TAG.sequence, toTime(nowMs - BACKDATE_MS), toTime(nowMs + SELF_SIGNED_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    encode(TAG.extensions, toExtensions(names)),
  );
  const signature = toBitString(sign("sha256", toSign, privateKey));
  return {
    cert: toPem(encode(TAG.sequence, toSign, algorithm, signature)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function toName(commonName: string): Buffer {
  const value = encode(TAG.utf8String, Buffer.from(commonName));
  const attribute = encode(TAG.sequence, oid("commonName"), value);
  return encode(TAG.sequence, encode(TAG.set, attribute));
}

/** RFC 5280, section 4.1.2.5: two digits of the year until 2049. */
function toTime(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/\D/g, "")}Z`;
  return digits < "2050"
    ? encode(TAG.utcTime, Buffer.from(digits.slice(2)))
    : encode(TAG.generalizedTime, Buffer.from(digits));
}

/** No authority; signs only as a server; and the names. */
function toExtensions(names: readonly string[]): Buffer {
  const digitalSignature = Buffer.of(0x07, 0x80);
  return encode(
    TAG.sequence,
    toExtension("basicConstraints", encode(TAG.sequence), { isCritical: true }),
    toExtension("keyUsage", encode(TAG.bitString, digitalSignature), { isCritical: true }),
    toExtension("extKeyUsage", encode(TAG.sequence, oid("serverAuth"))),
    toExtension("subjectAltName", encode(TAG.sequence, ...names.map(toGeneralName))),
  );
}

function toExtension(
  id: keyof typeof OID,
  value: Buffer,
  { isCritical = false }: { readonly isCritical?: boolean } = {},
): Buffer {
  const critical = isCritical ? [encode(TAG.boolean, Buffer.of(0xff))] : [];
  return encode(TAG.sequence, oid(id), ...critical, encode(TAG.octetString, value));
}

function toGeneralName(name: string): Buffer {
  const address = parseCidr(name);
  if (address === undefined) return encode(TAG.dnsName, Buffer.from(name));
  const digits = address.first.toString(16).padStart(address.family === 4 ? 8 : 32, "0");
  return encode(TAG.ipAddress, Buffer.from(digits, "hex"));
}

/** RFC 5280, section 4.1.2.2: positive and unique. */
function makeSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

/** Whole bytes: no bit of the last one is unused. */
function toBitString(bytes: Uint8Array): Buffer {
  return encode(TAG.bitString, Buffer.of(0), bytes);
}

function oid(name: keyof typeof OID): Buffer {
  return encode(TAG.oid, Buffer.from(OID[name], "hex"));
}

/** One value: its tag, its length and its contents. */
function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, ...toLength(content.length)), content]);
}

/** Lengths up to 127 take one byte; longer ones are preceded by the number of their bytes. */
function toLength(length: number): number[] {
  if (length < 0x80) return [length];
  const digits = length.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return [0x80 | bytes.length, ...bytes];
}

function toPem(der: Buffer): string {
  const lines = der.toString("base64").replaceAll(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}
