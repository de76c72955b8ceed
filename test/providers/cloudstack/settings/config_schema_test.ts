/**
 * The table of settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  describeSettings,
  parseFileSettings,
} from "../../../../lib/providers/cloudstack/settings/config_schema.ts";

describe("describeSettings()", () => {
  test("has every setting of the Apache provider, and those of Landfall", () => {
    const paths = describeSettings().map(({ path }) => path);
    for (const path of ["apiUrl", "apiKey", "secretKey", "sslNoVerify", "projectId", "zone"]) {
      expect(paths).toContain(path);
    }
    expect(paths).toContain("addresses.externalCIDRs");
    expect(paths.at(-1)).toBe("deletion.trustEmptyAnswer");
    expect(new Set(paths).size).toBe(paths.length);
  });

  test("every default is one that a file may have", () => {
    for (const { path, default: standard, form } of describeSettings()) {
      if (standard === undefined) continue;
      const value = form === "string" ? standard : JSON.parse(standard);
      const [block = "", key] = path.split(".");
      const raw = key === undefined ? { [block]: value } : { [block]: { [key]: value } };
      expect(parseFileSettings(raw).issues).toEqual([]);
    }
  });
});
