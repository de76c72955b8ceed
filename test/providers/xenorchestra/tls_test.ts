/**
 * Whom Landfall trusts, against a server with a certificate without any name, as Xen Orchestra makes it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { describeError } from "../../../lib/core/errors.ts";
import { Session } from "../../../lib/providers/xenorchestra/session.ts";
import { Trust } from "../../../lib/providers/xenorchestra/tls.ts";
import { toDeps, toSettings } from "./fake_server.ts";

const signal = new AbortController().signal;
const GET = { operation: "list_pools", path: "/pools", isList: true } as const;

function fixture(name: string): string {
  return new URL(`../../fixtures/${name}`, import.meta.url).pathname;
}

const certificate = readFileSync(fixture("xenorchestra/nameless.crt"), "utf8");
const key = readFileSync(fixture("xenorchestra/nameless.key"), "utf8");
const fingerprint = new X509Certificate(certificate).fingerprint256;

let server: Bun.Server<undefined>;
let url: string;
let served = 0;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: certificate, key },
    fetch() {
      served += 1;
      return Response.json([]);
    },
  });
  url = `https://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

async function get(more: object): Promise<string> {
  const session = new Session(toSettings(url, more), toDeps());
  const reply = await session.get(GET, signal).catch((error: CloudError) => error);
  return reply instanceof CloudError ? `${reply.kind}: ${reply.message}` : String(reply.status);
}

describe("Trust", () => {
  test("does not trust a self-signed certificate by itself, and says what to set", async () => {
    expect(await get({})).toMatch(/^protocol: .*self-signed.*caFile or certificateFingerprint/);
  });

  test("trusts anything when told so", async () => {
    expect(await get({ insecure: true })).toBe("200");
  });

  test("trusts the pinned certificate although it has no name", async () => {
    expect(await get({ certificateFingerprint: fingerprint })).toBe("200");
    const caFile = fixture("xenorchestra/nameless.crt");
    expect(await get({ certificateFingerprint: fingerprint, caFile })).toBe("200");
  });

  test("shows the token to no other certificate than the pinned one", async () => {
    const other = fingerprint.replace(/^../, (byte) => (byte === "00" ? "01" : "00"));
    const before = served;
    expect(await get({ certificateFingerprint: other })).toMatch(
      /^protocol: .*certificateFingerprint/,
    );
    const caFile = fixture("xenorchestra/nameless.crt");
    expect(await get({ certificateFingerprint: other, caFile })).toMatch(
      /^protocol: .*fingerprint/,
    );
    expect(served).toBe(before);
  });

  test("read() gives nothing for http", async () => {
    expect(await new Trust({ url: "http://x", insecure: true }).read(signal)).toEqual({});
  });

  test("read() says that no certificate could be had", async () => {
    const trust = new Trust({
      url: "https://127.0.0.1:1",
      insecure: false,
      certificateFingerprint: "00".repeat(32),
    });
    const error = await trust.read(signal).catch((error: unknown) => error);
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(describeError(error)).toBe(
      "Cannot reach Xen Orchestra at 127.0.0.1:1 to see its certificate: connection refused; check url",
    );
  });

  test.each([
    ["is not there", undefined, "cannot be read: there is no such file"],
    ["is empty", "", "holds no certificate"],
    [
      "holds a broken certificate",
      certificate.replace(/\n..../, "\nAAAA"),
      "certificate 1 of 1 is not valid",
    ],
  ])("refuses a caFile that %s", (_title, text, message) => {
    const folder = mkdtempSync(join(tmpdir(), "landfall-"));
    using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
    const caFile = join(folder, "ca.pem");
    if (text !== undefined) writeFileSync(caFile, text);
    expect(() => new Trust({ url, insecure: false, caFile })).toThrow(message);
  });
});
