import { describe, expect, test } from "bun:test";
import { findConnectionFault } from "../../../lib/core/net/connection_fault.ts";
import { ConnectionProblem } from "../../../lib/core/net/connection_problem.ts";

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
