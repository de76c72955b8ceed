/**
 * What the reference page can say of the settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  describeSettings,
  parseFileSettings,
} from "../../../../lib/providers/xenorchestra/settings/config_schema.ts";

describe("describeSettings()", () => {
  test("describes every setting in a sentence", () => {
    const settings = describeSettings();
    expect(settings.map(({ path }) => path)).toEqual([
      "url",
      "insecure",
      "token",
      "tokenFile",
      "username",
      "password",
      "clientTimeout",
      "caFile",
      "certificateFingerprint",
      "refreshInterval",
      "zoneLabelFrom",
      "zones",
      "regions",
      "instanceTypeTag",
      "pools",
      "addresses.mode",
      "addresses.exclude",
      "addresses.externalCIDRs",
      "addresses.mainIpAsExternal",
      "addresses.network",
      "nodeLabelsFromTags.prefixes",
    ]);
    for (const { description } of settings) expect(description).toMatch(/^[A-Z].*\.$/);
    expect(settings.find(({ path }) => path === "refreshInterval")).toMatchObject({
      type: "duration",
      default: "30s",
    });
    const refresh = settings.find(({ path }) => path === "refreshInterval");
    expect(refresh?.description).toContain("three requests, or five with `addresses.network`");
    expect(settings.flatMap(({ variable = [] }) => variable)).toEqual([
      "XOA_URL",
      "XOA_INSECURE",
      "XOA_TOKEN",
      "XOA_USER",
      "XOA_PASSWORD",
      "XOA_CLIENT_TIMEOUT",
    ]);
  });
});

describe("parseFileSettings()", () => {
  const interval = "wanted a duration with its unit from 1s to 1h0m0s, such as 30s";
  const timeout = "wanted a duration with its unit from 100ms to 10m0s, such as 30s";
  const refused: readonly [Record<string, unknown>, string][] = [
    [{ refreshInterval: 30 }, interval],
    [{ refreshInterval: "30" }, interval],
    [{ refreshInterval: "2h" }, interval],
    [{ clientTimeout: 60 }, `${timeout}, or "0", in quotes, for the default`],
    [{ clientTimeout: 0 }, `${timeout}, or "0", in quotes, for the default`],
    [{ zoneLabelFrom: 1 }, "wanted host, pool, none, or hostTag: and the prefix of a tag"],
    [{ username: 7 }, "wanted text, in quotes if it looks like a number"],
  ];
  test.each(refused)("says of %j at once what will be accepted", (raw, message) => {
    expect(parseFileSettings(raw).issues).toEqual([{ path: Object.keys(raw).join(), message }]);
  });

  test.each([[[""]], [["  "]], [["paris", ""]]])("refuses a pool without a name: %j", (pools) => {
    expect(parseFileSettings({ pools }).issues).toEqual([
      {
        path: `pools.${pools.length - 1}`,
        message: "wanted a UUID or a name, found nothing",
      },
    ]);
  });

  test("gives the path of what is wrong", () => {
    expect(parseFileSettings({ addresses: { exclude: [7] } }).issues).toEqual([
      { path: "addresses.exclude.0", message: expect.stringContaining("wanted") },
    ]);
  });
});
