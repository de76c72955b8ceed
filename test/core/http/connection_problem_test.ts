/**
 * Words for failed connections.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { describeError } from "../../../lib/core/errors.ts";
import {
  ConnectionProblem,
  findConnectionFault,
  findErrorCode,
  formatHostPort,
  isReset,
  toConnectionProblem,
  toHostPort,
} from "../../../lib/core/http/connection_problem.ts";

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
