import { expect, test } from "bun:test";
import { toSettings } from "../../../lib/simulator/cloudstack/settings.ts";

test("toSettings() is a new installation, except for what is changed", () => {
  expect(toSettings()).toMatchObject({ defaultPageSize: 500, throttling: undefined });
  const settings = toSettings({ defaultPageSize: 20 });
  expect(settings).toEqual({ ...toSettings(), defaultPageSize: 20 });
  settings.jobMs = 5;
  expect(toSettings().jobMs).not.toBe(5);
});
