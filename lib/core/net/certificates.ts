/**
 * Certificates in PEM, checked before they are used: a failed handshake does not say what is wrong with them.
 * @module
 */
import { X509Certificate } from "node:crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A text that is not a bundle of certificates. The message follows the place of the text and a colon. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/**
 * The certificates in a text, without the text around them.
 *
 * @returns At least one
 * @throws {CertificateError} when there is none, or one cannot be decoded
 */
export function parseCertificates(pem: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pem.match(BLOCK) ?? [];
  const [first, ...others] = blocks.map((block, at) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      const which = `certificate ${at + 1} of ${blocks.length}`;
      throw new CertificateError(`${which} cannot be decoded: damaged PEM`, { cause });
    }
  });
  if (first === undefined) throw new CertificateError("contains no certificate in PEM");
  return [first, ...others];
}
