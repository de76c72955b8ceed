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
  const interval = 'must be a duration from 1s to 1h, for example "30s"';
  const timeout = 'must be "0" for the default, or a duration from 100ms to 10m, for example "30s"';
  const refused: readonly [Record<string, unknown>, string][] = [
    [{ refreshInterval: 30 }, `${interval}, but is 30`],
    [{ refreshInterval: "30" }, `${interval}, but is "30"`],
    [{ refreshInterval: "2h" }, `${interval}, but is "2h"`],
    [{ clientTimeout: 60 }, `${timeout}, but is 60`],
    [{ clientTimeout: 0 }, `${timeout}, but is 0`],
    [{ zoneLabelFrom: 1 }, "must be host, pool, none, or hostTag:<prefix>, but is 1"],
    [{ username: 7 }, "must be text, but is a number; write it in quotes"],
  ];
  test.each(refused)("says of %j at once what will be accepted", (raw, message) => {
    expect(parseFileSettings(raw).issues).toEqual([{ path: Object.keys(raw).join(), message }]);
  });

  test.each([[[""]], [["  "]], [["paris", ""]]])("refuses a pool without a name: %j", (pools) => {
    expect(parseFileSettings({ pools }).issues).toEqual([
      {
        path: `pools.${pools.length - 1}`,
        message: "must be a UUID or a name, but is empty",
      },
    ]);
  });

  test("gives the path of what is wrong", () => {
    expect(parseFileSettings({ addresses: { exclude: [7] } }).issues).toEqual([
      { path: "addresses.exclude.0", message: expect.stringContaining("must be") },
    ]);
  });
});
