import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { DELETION } from "../../lib/cloud/deletion/settings.ts";
import { splitConfig } from "../../lib/config/sections.ts";
import { GALLERY_SECTION } from "../support/galleries/settings.ts";

const SECTIONS = [DELETION, GALLERY_SECTION];
const STANDARD = new Map<string, unknown>([
  ["deletion", DEFAULT_DELETION],
  ["galleries", GALLERY_SECTION.standard],
]);

describe("splitConfig()", () => {
  test.each([undefined, null, "text", [1], {}, { url: "u" }])(
    "splitConfig() leaves %j as it is and gives the defaults",
    (raw) => {
      const split = splitConfig(raw, SECTIONS);
      expect(split.rest).toBe(raw);
      expect(split).toMatchObject({ sections: STANDARD, issues: [], warnings: [] });
    },
  );

  test("splitConfig() takes sections off and nothing else", () => {
    const raw = {
      url: "u",
      deletion: { enabled: false },
      galleries: { separator: ";" },
      addresses: { deletion: 1 },
    };
    const { rest, sections } = splitConfig(raw, SECTIONS);
    expect(rest).toEqual({ url: "u", addresses: { deletion: 1 } });
    expect(sections.get("deletion")).toEqual({ ...DEFAULT_DELETION, enabled: false });
    expect(sections.get("galleries")).toMatchObject({ separator: ";" });
    expect(Object.keys(raw)).toHaveLength(4);
  });

  test("splitConfig() reports what is wrong and what is odd in every section", () => {
    const raw = { deletion: { holdOff: "1s" }, galleries: { separator: 7, most: 0 } };
    const { issues, warnings } = splitConfig(raw, SECTIONS);
    expect(issues.map(({ path }) => path)).toEqual(["galleries.separator", "galleries.most"]);
    expect(warnings.map(({ path }) => path)).toEqual(["deletion.holdOff"]);
  });

  test("splitConfig() leaves the provider its own keys of a block that is a section, too", () => {
    const raw = { url: "u", deletion: { enabled: false, trust: true }, galleries: {} };
    const { rest, sections } = splitConfig(raw, SECTIONS);
    expect(rest).toEqual({ url: "u", deletion: { trust: true } });
    expect(sections.get("deletion")).toEqual({ ...DEFAULT_DELETION, enabled: false });
    expect(splitConfig({ deletion: ["a"] }, SECTIONS).rest).toEqual({});
  });

  test("splitConfig() leaves a section that nobody brings to whoever refuses unknown keys", () => {
    expect(splitConfig({ galleries: {} }, [DELETION]).rest).toEqual({ galleries: {} });
  });
});
