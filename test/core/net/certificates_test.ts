/**
 * Certificates in PEM, and what is no certificate.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseCertificates } from "../../../lib/core/net/certificates.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const DAMAGED = readTls("client.crt").replace("MII", "???");

describe("parseCertificates()", () => {
  test("reads a bundle, whatever stands around its certificates", () => {
    const bundle = `# ours\n${readTls("ca.crt")}\nand\n${readTls("client.crt")}`;
    const subjects = parseCertificates(bundle).map(({ fingerprint256 }) => fingerprint256);
    expect(new Set(subjects).size).toBe(2);
    expect(parseCertificates(readTls("ca.crt"))[0].fingerprint256).toBe(subjects[0] ?? "");
  });

  test.each([
    ["an empty text", "", "contains no certificate in PEM"],
    ["a key", readTls("client.key"), "contains no certificate in PEM"],
    ["damaged PEM", DAMAGED, "certificate 1 of 1 cannot be decoded: damaged PEM"],
    [
      "a bundle whose second certificate is damaged",
      readTls("ca.crt") + DAMAGED,
      "certificate 2 of 2 cannot be decoded: damaged PEM",
    ],
  ])("refuses %s", (_title, pem, problem) => {
    expect(() => parseCertificates(pem)).toThrow(new RegExp(`^${problem}$`));
  });
});
