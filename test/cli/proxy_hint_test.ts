import { describe, expect, test } from "bun:test";
import type { CheckFinding } from "../../lib/cli/check/report.ts";
import { hintAtProxy } from "../../lib/cli/proxy_hint.ts";

const REFUSED: CheckFinding = { level: "failure", code: "refused", message: "m", advice: "a" };

describe("hintAtProxy()", () => {
  test("names the variable that is set beside the advice, and not the proxy", () => {
    const found = hintAtProxy(REFUSED, "xo:443", {
      HTTPS_PROXY: "http://u:s3cret@proxy",
      HTTP_PROXY: "",
    });
    expect(found.advice).toBe(
      "a; HTTPS_PROXY is set, so the proxy may have failed: check it, or add the host to NO_PROXY",
    );
    expect(found).toMatchObject({ level: "failure", code: "refused", message: "m" });
  });

  test("names all that are set, and needs no other advice", () => {
    const { advice: _, ...bare } = REFUSED;
    const found = hintAtProxy(bare, "xo:443", { http_proxy: "http://p", HTTPS_PROXY: "http://p" });
    expect(found.advice).toStartWith("HTTPS_PROXY and http_proxy are set");
  });

  const untouched: readonly (readonly [string, CheckFinding, Record<string, string>])[] = [
    ["without a proxy", REFUSED, { NO_PROXY: "*" }],
    ["of no connection", { ...REFUSED, code: "unauthorized" }, { HTTPS_PROXY: "http://p" }],
    ["that is no failure", { ...REFUSED, level: "ok" }, { HTTPS_PROXY: "http://p" }],
  ];
  test.each(untouched)("leaves a finding alone %s", (_what, finding, env) => {
    expect(hintAtProxy(finding, "xo:443", env)).toBe(finding);
  });

  test.each(["127.0.0.1:443", "[::1]:443", "localhost"])(
    "leaves alone what is said of our own machine: %s",
    (endpoint) => {
      expect(hintAtProxy(REFUSED, endpoint, { HTTPS_PROXY: "http://p" })).toBe(REFUSED);
    },
  );
});
