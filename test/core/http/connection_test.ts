import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { describeError, findErrorCode } from "../../../lib/core/errors.ts";
import {
  ConnectionProblem,
  describeDates,
  explainDates,
  findConnectionFault,
  formatHostPort,
  isReset,
  parseCertificates,
  readServerCertificate,
  toConnectionProblem,
  toHostPort,
  trimSlashes,
} from "../../../lib/core/http/connection.ts";
import { makeSelfSigned } from "../../../lib/http/certificate/self_signed.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

function withCode(code: string, message: string = "runtime text"): Error {
  return Object.assign(new Error(message), { code });
}

describe("toConnectionProblem()", () => {
  test.each([
    ["ECONNREFUSED", "connection refused"],
    ["ENOTFOUND", "name not found"],
    ["ETIMEDOUT", "timed out"],
    ["EHOSTUNREACH", "there is no route to it"],
    ["ECONNRESET", "the connection was closed before the answer was complete"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate not trusted: it is self-signed"],
    ["CERT_HAS_EXPIRED", "certificate not trusted: it has expired"],
    ["CERT_CHAIN_TOO_LONG", "certificate not trusted (CERT_CHAIN_TOO_LONG)"],
    ["EWHATEVER", "the connection failed (EWHATEVER)"],
  ])("says %s in words", (code, message) => {
    expect(toConnectionProblem(withCode(code))).toMatchObject({ code, message });
  });

  test("keeps the status with which a proxy refused, and nothing else of its text", () => {
    const error = withCode("ERR_PROXY_TUNNEL", "Proxy refused to open a tunnel: 407 Who are you");
    expect(toConnectionProblem(error).message).toBe("the proxy refused to connect to it, with 407");
    expect(toConnectionProblem(withCode("ERR_PROXY_TUNNEL", "no")).message).not.toContain("with");
  });

  test("knows a time-out by its name, and keeps an error without a code as the cause", () => {
    expect(toConnectionProblem(new DOMException("x", "TimeoutError")).message).toBe("timed out");
    expect(describeError(toConnectionProblem(new Error("x")))).toBe("the connection failed: x");
  });

  test("leaves a ConnectionProblem as it is", () => {
    const known = new ConnectionProblem("ECONNREFUSED", "m");
    expect(toConnectionProblem(known)).toBe(known);
  });

  test("gives a cause that describeError() does not say twice", () => {
    const cause = toConnectionProblem(withCode("ECONNREFUSED"));
    const error = new Error(`Cannot reach a:1: ${cause.message}`, { cause });
    expect(describeError(error)).toBe("Cannot reach a:1: connection refused");
  });

  test("has words for what fetch really throws", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("garbage\r\n\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : "";
    const urls = ["http://127.0.0.1:1", `http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`];
    const messages = await Promise.all(
      urls.map((url) => fetch(url).catch((error: unknown) => toConnectionProblem(error).message)),
    );
    server.close();
    expect(messages).toEqual([
      "connection refused",
      "the connection was closed before the answer was complete",
      "TLS handshake failed: the port does not use TLS, or has no cipher with ECDHE and AEAD",
    ]);
  });
});

describe("findErrorCode()", () => {
  test("is empty without a code that is text", () => {
    expect(findErrorCode(withCode("X"))).toBe("X");
    expect([new Error("x"), { code: "X" }, new DOMException("x")].map(findErrorCode)).toEqual([
      "",
      "",
      "",
    ]);
  });
});

describe("toHostPort()", () => {
  test.each([
    ["https://xo.example.org/sub?q", { host: "xo.example.org", port: 443 }],
    ["http://user:s3cret@[::1]/", { host: "::1", port: 80 }],
    ["https://10.0.0.1:6443", { host: "10.0.0.1", port: 6443 }],
  ])("says where a socket for %s connects to", (url, place) => {
    expect(toHostPort(url)).toEqual(place);
  });
});

describe("formatHostPort()", () => {
  test.each([
    ["https://xo.example.org/sub?q", "xo.example.org:443"],
    ["http://user:s3cret@[::1]/", "[::1]:80"],
    ["https://10.0.0.1:6443", "10.0.0.1:6443"],
  ])("shows %s as %s", (url, shown) => {
    expect(formatHostPort(url)).toBe(shown);
  });
});

describe("isReset()", () => {
  test("knows a dropped connection", () => {
    expect(isReset(withCode("ECONNRESET"))).toBe(true);
    expect(isReset(withCode("ConnectionReset"))).toBe(true);
    expect(isReset(withCode("ECONNREFUSED"))).toBe(false);
    expect(isReset("text")).toBe(false);
  });
});

describe("findConnectionFault()", () => {
  test.each([
    ["ENOTFOUND", "dns"],
    ["EAI_AGAIN", "dns"],
    ["ECONNREFUSED", "refused"],
    ["ConnectionRefused", "refused"],
    ["ETIMEDOUT", "timeout"],
    ["EHOSTUNREACH", "noRoute"],
    ["ECONNRESET", "closed"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tlsAuthority"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "tlsAuthority"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tlsAuthority"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tlsAuthority"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tlsName"],
    ["CERT_HAS_EXPIRED", "tlsExpired"],
    ["CERT_NOT_YET_VALID", "tlsNotYetValid"],
    ["CERT_REVOKED", "tls"],
    ["EPROTO", "notTls"],
    ["ERR_PROXY_TUNNEL", "proxy"],
  ] as const)("takes %s for %s", (code, fault) => {
    expect(findConnectionFault(new ConnectionProblem(code, "words"))).toBe(fault);
  });

  test("looks at causes, and at the names of errors without a code", () => {
    const cause = new ConnectionProblem("ENOTFOUND", "name not found");
    const wrapped = new Error("outer", { cause: new Error("inner", { cause }) });
    expect(findConnectionFault(wrapped)).toBe("dns");
    expect(findConnectionFault(new DOMException("late", "TimeoutError"))).toBe("timeout");
  });

  test("blames no connection for anything else, nor goes round in circles", () => {
    const round = new Error("round");
    round.cause = round;
    for (const error of [new Error("x"), new TypeError("x"), "ENOTFOUND", undefined, round]) {
      expect(findConnectionFault(error)).toBeUndefined();
    }
  });
});

describe("trimSlashes()", () => {
  test.each([
    ["", ""],
    ["///", ""],
    ["a/b", "a/b"],
    ["/a//b//", "/a//b"],
  ])("trimSlashes() makes of %j %j", (text, trimmed) => {
    expect(trimSlashes(text)).toBe(trimmed);
  });
});

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
