import { describe, expect, test } from "bun:test";
import { CloudError } from "../../lib/cloud/errors.ts";
import { toConnectionError } from "../../lib/cloud_http/connection_error.ts";
import { NAMES } from "./fake_server.ts";

function withCode(code: string): Error {
  return Object.assign(new Error("failed"), { code });
}

describe("toConnectionError()", () => {
  test("advises to renew what is out of date, its authority included", () => {
    const { message } = toConnectionError(withCode("CERT_HAS_EXPIRED"), "https://x", NAMES);
    expect(message).toContain("renew it, or put the new certificate of its authority into ca-file");
    expect(message).not.toContain("pin");
    const early = toConnectionError(withCode("CERT_NOT_YET_VALID"), "https://x", NAMES);
    expect(early.message).toContain("check this machine's clock");
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "protocol", "set ca-file or pin"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "protocol", "set ca-file or pin"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "protocol", "set ca-file or pin"],
    ["CERT_HAS_EXPIRED", "protocol", "into ca-file"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "protocol", "set ca-file or pin"],
    ["ECONNREFUSED", "unreachable", "check api-url"],
    ["ConnectionRefused", "unreachable", "check api-url"],
    ["EPROTO", "unreachable", "check api-url"],
    ["ECONNRESET", "unreachable", "may be starting, or a proxy in between closed it"],
  ] as const)("reads %s as %s, with advice", (code, kind, advice) => {
    const error = toConnectionError(withCode(code), "https://x", NAMES);
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(advice);
    if (kind === "protocol") expect(error.message).toContain("certificate not trusted");
  });

  test("keeps a CloudError", () => {
    const error = new CloudError("denied", "no");
    expect(toConnectionError(error, "https://x", NAMES)).toBe(error);
  });
});
