import { expect, test } from "bun:test";
import { isSince, toSettings } from "../../../lib/simulator/cloudstack/settings.ts";

test("toSettings() is a new installation, except for what is changed", () => {
  expect(toSettings()).toMatchObject({ defaultPageSize: 500, throttling: undefined });
  const settings = toSettings({ defaultPageSize: 20 });
  expect(settings).toEqual({ ...toSettings(), defaultPageSize: 20 });
  settings.jobMs = 5;
  expect(toSettings().jobMs).not.toBe(5);
});

test.each([
  ["4.17.2.0", "4.18", false],
  ["4.18.0.0", "4.18", true],
  ["4.21.9.0", "4.22", false],
  ["4.22.0.0", "4.22", true],
  ["4.9.3", "4.18", false],
])("isSince() compares %s with %s by numbers", (version, wanted, expected) => {
  expect(isSince(toSettings({ version }), wanted)).toBe(expected);
});
