/**
 * What the reference page can say of the settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  describeSettings,
  parseFileSettings,
} from "../../../lib/providers/xenorchestra/config_schema.ts";

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
      "instanceTypeTag",
      "addresses.exclude",
      "addresses.externalCIDRs",
      "addresses.mainIpAsExternal",
      "addresses.network",
    ]);
    for (const { description } of settings) expect(description).toMatch(/^[A-Z].*\.$/);
    expect(settings.find(({ path }) => path === "refreshInterval")).toMatchObject({
      type: "duration",
      default: "30s",
    });
    const refresh = settings.find(({ path }) => path === "refreshInterval");
    expect(refresh?.description).toContain("three requests, five with `addresses.network`");
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
  test("gives the path of what is wrong", () => {
    expect(parseFileSettings({ addresses: { exclude: [7] } }).issues).toEqual([
      { path: "addresses.exclude.0", message: expect.stringContaining("wanted") },
    ]);
  });
});
