/**
 * Certificates in PEM, and what is no certificate.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseCertificates } from "../../../lib/core/net/certificates.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

describe("parseCertificates()", () => {
  test("reads a bundle, whatever stands around its certificates", () => {
    const bundle = `# ours\n${readTls("ca.crt")}\nand\n${readTls("client.crt")}`;
    const subjects = parseCertificates(bundle).map(({ fingerprint256 }) => fingerprint256);
    expect(new Set(subjects).size).toBe(2);
    expect(parseCertificates(readTls("ca.crt"))[0].fingerprint256).toBe(subjects[0] ?? "");
  });
});
