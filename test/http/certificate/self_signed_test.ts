import { expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { makeSelfSigned } from "../../../lib/http/certificate/self_signed.ts";

const NOW_MS = Date.UTC(2026, 5, 1);
const NAMES = ["localhost", "127.0.0.1", "::1", "node-1.example"] as const;

test("makeSelfSigned() gives a certificate for these names, signed by its own key", () => {
  const { cert, key } = makeSelfSigned(NAMES, NOW_MS);
  const certificate = new X509Certificate(cert);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkHost("node-1.example")).toBe("node-1.example");
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkIP("::1")).toBe("::1");
  expect(certificate.checkHost("elsewhere.example")).toBeUndefined();
  expect([certificate.ca, certificate.keyUsage]).toEqual([false, ["1.3.6.1.5.5.7.3.1"]]);
});

test("makeSelfSigned() makes it good from an hour ago for a year", () => {
  const { validFrom, validTo } = new X509Certificate(makeSelfSigned(NAMES, NOW_MS).cert);
  expect(Date.parse(validFrom)).toBe(Date.UTC(2026, 4, 31, 23));
  expect(Date.parse(validTo)).toBe(Date.UTC(2027, 5, 1));
});

test("makeSelfSigned() writes years with four digits from 2050 on", () => {
  const { cert } = makeSelfSigned(NAMES, Date.UTC(2049, 5, 1));
  const { validFrom, validTo } = new X509Certificate(cert);
  expect(Date.parse(validFrom)).toBe(Date.UTC(2049, 4, 31, 23));
  expect(Date.parse(validTo)).toBe(Date.UTC(2050, 5, 1));
});

test("makeSelfSigned() keeps every name, however many there are", () => {
  const hosts = Array.from({ length: 2_000 }, (_, at) => `node-${at}.example`);
  const names = [...hosts, "10.0.0.1", "2001:db8::1"];
  const { subjectAltName } = new X509Certificate(makeSelfSigned(names, NOW_MS).cert);
  expect(subjectAltName?.split(", ")).toEqual([
    ...hosts.map((name) => `DNS:${name}`),
    "IP Address:10.0.0.1",
    "IP Address:2001:DB8:0:0:0:0:0:1",
  ]);
});

test("makeSelfSigned() encodes every length that names may have together", () => {
  for (let length = 1; length <= 300; length += 1) {
    const name = "n".repeat(length);
    const { subjectAltName } = new X509Certificate(makeSelfSigned([name], NOW_MS).cert);
    expect(subjectAltName).toBe(`DNS:${name}`);
  }
});

test("makeSelfSigned() makes another key and another positive serial number each time", () => {
  const certificates = Array.from({ length: 20 }, () => makeSelfSigned(NAMES, NOW_MS));
  expect(new Set(certificates.map(({ key }) => key)).size).toBe(20);
  const serials = certificates.map(({ cert }) => new X509Certificate(cert).serialNumber);
  expect(new Set(serials).size).toBe(20);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});
