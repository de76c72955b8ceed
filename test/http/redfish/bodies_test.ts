import { expect, test } from "bun:test";
import type { Fields } from "../../../lib/core/text/values.ts";
import { parseReset, parseSystemChange, readFields } from "../../../lib/http/redfish/replies.ts";
import { RESET_TYPES } from "../../../lib/http/redfish/words.ts";

const TYPE = { "content-type": "application/json; charset=utf-8" };

function toRequest(body: string, headers: Readonly<Record<string, string>> = TYPE): Request {
  return new Request("https://bmc/", { method: "POST", body, headers });
}

test("readFields() reads an object, and nothing as an empty one", async () => {
  expect(await readFields(toRequest('{"a":1}'))).toEqual({ a: 1 });
  expect(await readFields(toRequest(" ", {}))).toEqual({});
});

test.each([
  ["what is no JSON", toRequest("{"), 400],
  ["a list", toRequest("[]"), 400],
  ["null", toRequest("null"), 400],
  ["a form", toRequest("{}", { "content-type": "text/plain" }), 415],
])("readFields() refuses %s", async (_title, request, status) => {
  await expect(readFields(request)).rejects.toMatchObject({ status });
});

test("parseReset() names all resets that there are", () => {
  expect(parseReset({ ResetType: "ForceRestart" }, RESET_TYPES)).toBe("restart");
  const message =
    "ResetType must be one of On, ForceOff, GracefulShutdown, GracefulRestart, ForceRestart, PowerCycle, Pause, Resume";
  expect(() => parseReset({ ResetType: "Nmi" }, RESET_TYPES)).toThrow(message);
  expect(() => parseReset({ ResetType: "constructor" }, RESET_TYPES)).toThrow(message);
});

test.each<[boot: Fields, change: object]>([
  [{}, {}],
  [{ BootSourceOverrideTarget: "None" }, { device: "none" }],
  [{ BootSourceOverrideEnabled: "Continuous" }, { duration: "always" }],
  [{ BootSourceOverrideMode: "Legacy" }, { firmware: "bios" }],
  [
    { BootSourceOverrideTarget: "Pxe", BootSourceOverrideEnabled: "Once" },
    { device: "network", duration: "once" },
  ],
])("parseSystemChange() reads %o", (Boot, change) => {
  expect(parseSystemChange({ Boot }, false)).toEqual(change);
});

test.each<[fields: Fields, message: string]>([
  [{}, "Boot is missing"],
  [{ Boot: null }, "Boot is missing"],
  [{ AssetTag: "x" }, '"AssetTag" cannot be changed; only Boot can'],
  [{ Boot: { BootNext: "x" } }, '"Boot/BootNext" cannot be changed; only Boot can'],
  [
    { Boot: { BootSourceOverrideTarget: 1 } },
    "BootSourceOverrideTarget must be one of None, Pxe, Hdd",
  ],
  // A machine has no virtual media.
  [
    { Boot: { BootSourceOverrideTarget: "Cd", BootSourceOverrideEnabled: "Once" } },
    "BootSourceOverrideTarget must be one of None, Pxe, Hdd",
  ],
  [
    { Boot: { BootSourceOverrideEnabled: null } },
    "BootSourceOverrideEnabled must be one of Disabled, Once, Continuous",
  ],
])("parseSystemChange() refuses %o", (fields, message) => {
  expect(() => parseSystemChange(fields, false)).toThrow(message);
});
