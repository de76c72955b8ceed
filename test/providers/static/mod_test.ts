import { describe, expect, test } from "bun:test";
import { staticProvider } from "../../../lib/providers/static/mod.ts";

describe("staticProvider.parseConfig()", () => {
  test("asks for a file when there is none", () => {
    for (const raw of [undefined, null]) {
      const { settings, issues } = staticProvider.parseConfig(raw, {});
      expect(settings).toBeUndefined();
      expect(issues[0]?.message).toContain("--cloud-config");
    }
  });

  test("gives no settings with issues", () => {
    expect(staticProvider.parseConfig({}, {})).toMatchObject({
      issues: [{ path: "instances", message: "required" }],
      warnings: [],
    });
  });
});
