import { expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { printCertificate } from "../../lib/cli/make_certificate.ts";

test("printCertificate() prints a certificate for these names and its key, a zero byte between them", () => {
  let printed = "";
  const context = { env: {}, print: (text: string) => (printed += text), complain: () => {} };
  expect(printCertificate(["node-1", "10.0.0.1"], context)).toBe(0);
  const [cert = "", key = "", ...more] = printed.split("\0");
  const certificate = new X509Certificate(cert);
  expect(more).toEqual([]);
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(certificate.subjectAltName).toBe("DNS:node-1, IP Address:10.0.0.1");
  expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 364 * 24 * 3_600_000);
});
