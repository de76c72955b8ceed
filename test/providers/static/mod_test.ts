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

  test("warns of unknown keys and goes on", () => {
    const { settings, issues, warnings } = staticProvider.parseConfig(
      { instances: [], zonne: 1 },
      {},
    );
    expect(settings?.instances).toEqual([]);
    expect(issues).toEqual([]);
    expect(warnings).toEqual([{ path: "zonne", message: "unknown key, ignored" }]);
  });

  test("gives no settings with issues", () => {
    expect(staticProvider.parseConfig({}, {})).toEqual({
      issues: [{ path: "instances", message: "required" }],
      warnings: [],
    });
  });
});
