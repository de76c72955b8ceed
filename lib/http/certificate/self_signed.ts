/**
 * A self-signed certificate, used if no files are given.
 * @module
 */
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import type { KeyPair } from "../sockets/server.ts";

/** How long a certificate is valid. */
const SELF_SIGNED_MS: number = 365 * 24 * 3_600_000;
/** Clocks differ. */
const BACKDATE_MS = 3_600_000;
const SERIAL_BYTES = 16;
/** RFC 5280 appendix A: `ub-common-name`. */
const COMMON_NAME = "landfall";
const ID_COMMON_NAME = "2.5.4.3";
/** RFC 5758, section 3.2. */
const ID_ECDSA_SHA256 = "1.2.840.10045.4.3.2";

/**
 * Makes a certificate for a server and a new key on the curve P-256.
 *
 * @param names Host names and IP addresses, at least one
 * @param nowMs Milliseconds since the epoch; the certificate is valid for a year from then
 */
export function makeSelfSigned(names: readonly string[], nowMs: number): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = new AlgorithmIdentifier({ algorithm: ID_ECDSA_SHA256 });
  const name = toName(COMMON_NAME);
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: makeSerial(),
    signature: algorithm,
    issuer: name,
    subject: name,
    validity: new Validity({
      notBefore: new Date(nowMs - BACKDATE_MS),
      notAfter: new Date(nowMs + SELF_SIGNED_MS),
    }),
    subjectPublicKeyInfo: toPublicKeyInfo(publicKey),
    extensions: toExtensions(names),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  return {
    cert: toPem(AsnConvert.serialize(certificate)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function toName(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  const attribute = new AttributeTypeAndValue({ type: ID_COMMON_NAME, value });
  return new Name([new RelativeDistinguishedName([attribute])]);
}

function toExtensions(names: readonly string[]): Extensions {
  const alternatives = names.map((name) =>
    isIP(name) === 0 ? new GeneralName({ dNSName: name }) : new GeneralName({ iPAddress: name }),
  );
  const values: readonly (readonly [id: string, critical: boolean, value: unknown])[] = [
    [id_ce_basicConstraints, true, new BasicConstraints({ cA: false })],
    [id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)],
    [id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])],
    [id_ce_subjectAltName, false, new SubjectAlternativeName(alternatives)],
  ];
  const extensions = values.map(([extnID, critical, value]) => {
    const extnValue = new OctetString(AsnConvert.serialize(value));
    return new Extension({ extnID, critical, extnValue });
  });
  return new Extensions(extensions);
}

function toPublicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo);
}

/** RFC 5280, section 4.1.2.2: positive and unique. */
function makeSerial(): ArrayBuffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return toArrayBuffer(bytes);
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function toPem(der: ArrayBuffer): string {
  const lines = Buffer.from(der)
    .toString("base64")
    .replaceAll(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}
