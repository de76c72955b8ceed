import { expect, test } from "bun:test";
import {
  hasPrefix,
  isNarrow,
  type MacOwner,
  toMac,
} from "../../../../lib/controllers/vino/addresses/macs.ts";

const UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
const NONE: ReadonlySet<string> = new Set();

function owner(machine: string, name = "oam"): MacOwner {
  return { uid: UID, machine, interface: name };
}

test.each([
  [undefined, false, true],
  ["00:00:00:00:00:00", false, true],
  ["52:54:00:06:07:00", true, true],
  ["52:54:00:06:08:00", true, false],
])("isNarrow() and hasPrefix() with the prefix %p", (prefix, narrow, has) => {
  expect(isNarrow(prefix)).toBe(narrow);
  expect(hasPrefix("52:54:00:06:07:aa", prefix)).toBe(has);
});

test("toMac() never changes for an interface", () => {
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { taken: NONE })).toBe("6e:c2:e1:ce:8c:4d");
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { prefix: "52:54:00:06:00:00", taken: NONE })).toBe(
    "52:54:00:06:8c:4d",
  );
});
