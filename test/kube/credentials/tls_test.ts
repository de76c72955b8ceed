/**
 * Certificates and keys that are wrong, and how that is said.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  checkCertificates,
  checkKeyPair,
  decodePem,
  type PlacedPem,
} from "../../../lib/kube/credentials/tls.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const DAMAGED = readTls("client.crt").replace("MII", "???");

function at(path: string, pem: string): PlacedPem {
  return { pem, place: { source: "/etc/kubeconfig", path } };
}

describe("checkCertificates()", () => {
  test("takes a bundle as it is", () => {
    const bundle = `# ours\n${readTls("ca.crt")}\n${readTls("other_ca.crt")}`;
    expect(checkCertificates(at("ca", bundle))).toBe(bundle);
  });

  const BROKEN: [string, string, string][] = [
    ["an empty file", "", "/etc/kubeconfig: ca: contains no certificate in PEM"],
    ["a key", readTls("client.key"), "/etc/kubeconfig: ca: contains no certificate in PEM"],
    [
      "damaged PEM",
      DAMAGED,
      "/etc/kubeconfig: ca: certificate 1 of 1 cannot be decoded: damaged PEM",
    ],
    [
      "a bundle whose second certificate is damaged",
      readTls("ca.crt") + DAMAGED,
      "/etc/kubeconfig: ca: certificate 2 of 2 cannot be decoded: damaged PEM",
    ],
  ];
  test.each(BROKEN)("refuses %s", (_title, pem, message) => {
    expect(() => checkCertificates(at("ca", pem))).toThrow(message);
  });
});

describe("checkKeyPair()", () => {
  const check = (cert: string, key: string): (() => unknown) => {
    return () => checkKeyPair(at("cert", cert), at("key", key));
  };

  test("takes a certificate and its key", () => {
    const [cert, key] = [readTls("client.crt"), readTls("client.key")];
    expect(check(cert, key)()).toEqual({ cert, key });
  });

  const BROKEN: [string, string, string, string][] = [
    [
      "a key of another certificate",
      readTls("client.crt"),
      readTls("server.key"),
      "/etc/kubeconfig: key: the private key does not belong to the client certificate (cert)",
    ],
    [
      "an encrypted key",
      readTls("client.crt"),
      readTls("client_encrypted.key"),
      "/etc/kubeconfig: key: the private key is encrypted; use one without a passphrase",
    ],
    [
      "a certificate in place of the key",
      readTls("client.crt"),
      readTls("client.crt"),
      "/etc/kubeconfig: key: must be a private key in PEM",
    ],
    [
      "a damaged certificate",
      DAMAGED,
      readTls("client.key"),
      "/etc/kubeconfig: cert: certificate 1 of 1 cannot be decoded: damaged PEM",
    ],
  ];
  test.each(BROKEN)("refuses %s", (_title, cert, key, message) => {
    expect(check(cert, key)).toThrow(message);
  });
});

describe("decodePem()", () => {
  test("decodes base64 that is broken into lines", () => {
    const base64 = Buffer.from("hello world").toString("base64");
    const place = { source: "f", path: "p" };
    const text = `${base64.slice(0, 4)}\n ${base64.slice(4)}\n`;
    expect(decodePem(text, place)).toEqual({ pem: "hello world", place });
  });

  test.each(["-----BEGIN", "abc", "a_b-", "????"])("refuses %p without showing it", (text) => {
    const decode = (): unknown => decodePem(text, { source: "f", path: "p" });
    expect(decode).toThrow(/^f: p: must be base64$/);
  });
});
