/**
 * Certificates in PEM, and what is no certificate.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { ConnectionProblem, findErrorCode } from "../../../lib/core/http/connection_problem.ts";
import {
  describeDates,
  explainDates,
  parseCertificates,
  readServerCertificate,
} from "../../../lib/core/http/tls.ts";
import { makeSelfSigned } from "../../../lib/http/certificate/self_signed.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const FUTURE = makeSelfSigned(["127.0.0.1", "a.example"], Date.now() + 10 * DAY_MS);

const servers: Bun.Server<undefined>[] = [];
let silent: Server;
let silentUrl = "";

function serve(cert: string, key: string): string {
  const tls = { cert, key };
  const fetch = (): Response => new Response("");
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, tls });
  servers.push(server);
  return `https://127.0.0.1:${server.port}`;
}

beforeAll(async () => {
  silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  silentUrl = `https://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(async () => {
  silent.close();
  await Promise.all(servers.map((server) => server.stop(true)));
});

/** What `fetch` throws, explained. */
async function fail(url: string, ca: string): Promise<unknown> {
  const error = await fetch(url, { tls: { ca } }).catch((error: unknown) => error);
  return await explainDates(error, url, signal);
}

describe("explainDates()", () => {
  test("tells until when a certificate was valid", async () => {
    const url = serve(readTls("expired_server.crt"), readTls("expired_server.key"));
    const error = await fail(url, readTls("ca.crt"));
    expect(findErrorCode(error)).toBe("CERT_HAS_EXPIRED");
    expect(String(error)).toMatch(
      /: it has expired: valid until 2024-02-01T00:00:00Z, and this machine's clock says 20\S+Z$/,
    );
  });

  test("tells from when on a certificate is valid", async () => {
    const error = await fail(serve(FUTURE.cert, FUTURE.key), FUTURE.cert);
    expect(findErrorCode(error)).toBe("CERT_NOT_YET_VALID");
    expect(String(error)).toMatch(/: it is not valid yet: valid from 20\S+Z, and this machine's/);
  });

  test("leaves alone what is no matter of dates", async () => {
    const error = new ConnectionProblem("ECONNREFUSED", "connection refused");
    expect(await explainDates(error, "https://127.0.0.1:1", signal)).toBe(error);
  });

  test("leaves an error as it is when there is no certificate to see", async () => {
    const error = new ConnectionProblem("CERT_HAS_EXPIRED", "words");
    expect(await explainDates(error, "https://127.0.0.1:1", signal)).toBe(error);
    expect(await explainDates(error, silentUrl, AbortSignal.timeout(50))).toBe(error);
  });
});

describe("readServerCertificate()", () => {
  test("shows what nobody trusts", async () => {
    const url = serve(FUTURE.cert, FUTURE.key);
    const { subjectAltName } = await readServerCertificate(url, signal, "a.example");
    expect(subjectAltName).toContain("a.example");
  });

  test("rejects in our words, or with the reason of a signal that aborts", async () => {
    await expect(readServerCertificate("https://127.0.0.1:1", signal)).rejects.toThrow(
      "connection refused",
    );
    const stopped = readServerCertificate(silentUrl, AbortSignal.abort(new Error("stop")));
    await expect(stopped).rejects.toThrow("stop");
    await expect(readServerCertificate(silentUrl, AbortSignal.timeout(20))).rejects.toThrow();
  });
});

const DATES = { validFrom: "Jan  2 00:00:00 2026 GMT", validTo: "Feb  1 00:00:00 2026 GMT" };

test.each<[now: string, isEarly: boolean, words: string]>([
  ["2026-01-01T00:00:00Z", true, "it is not valid yet: valid from 2026-01-02T00:00:00Z"],
  ["2026-01-03T00:00:00Z", true, "it is valid, but an authority above it is not valid yet"],
  ["2026-02-03T00:00:00Z", false, "it has expired: valid until 2026-02-01T00:00:00Z"],
  ["2026-01-03T00:00:00Z", false, "it is valid, but an authority above it has expired"],
])("describeDates() at %s with isEarly %p", (now, isEarly, words) => {
  expect(describeDates(DATES, isEarly, Date.parse(now))).toBe(
    `${words}, and this machine's clock says ${now}`,
  );
});

describe("parseCertificates()", () => {
  test("reads a bundle, whatever stands around its certificates", () => {
    const bundle = `# ours\n${readTls("ca.crt")}\nand\n${readTls("client.crt")}`;
    const subjects = parseCertificates(bundle).map(({ fingerprint256 }) => fingerprint256);
    expect(new Set(subjects).size).toBe(2);
    expect(parseCertificates(readTls("ca.crt"))[0].fingerprint256).toBe(subjects[0] ?? "");
  });
});
