import { expect, test } from "bun:test";
import {
  formatOverride,
  isSameOrder,
  type OverrideRecord,
  parseOverride,
  toOverrideOrder,
} from "../../../../lib/controllers/vino/redfish/override_record.ts";

const ONCE: OverrideRecord = { duration: "once", device: "network", before: ["disk", "cd"] };

test.each<[record: OverrideRecord]>([
  [ONCE],
  [{ ...ONCE, since: { isRunning: false } }],
  [{ ...ONCE, duration: "never", since: { isRunning: true, startedAtMs: 5 } }],
  [{ ...ONCE, duration: "always", device: "cd" }],
])("parseOverride() reads what formatOverride() wrote: %j", (record) => {
  expect(parseOverride(formatOverride(record))).toEqual(record);
});

test("formatOverride() writes what a process of another version reads", () => {
  expect(formatOverride({ ...ONCE, since: { isRunning: false } })).toBe(
    '{"duration":"once","device":"network","before":["disk","cd"],"since":{"isRunning":false}}',
  );
});

test.each([
  "",
  "{",
  "null",
  "[]",
  '{"duration":"twice","device":"network","before":["disk"]}',
  '{"duration":"once","device":"tape","before":["disk"]}',
  '{"duration":"once","device":"network","before":[]}',
  '{"duration":"once","device":"network","before":["disk","tape"]}',
  '{"duration":"once","device":"network","before":"disk"}',
])("parseOverride() takes %s for no override", (text) => {
  expect(parseOverride(text)).toBeUndefined();
});

test("parseOverride() takes a wrong note for none", () => {
  const text = formatOverride(ONCE).replace("}", ',"since":{"isRunning":"yes"}}');
  expect(parseOverride(text)).toEqual(ONCE);
});

test("toOverrideOrder() keeps the others behind", () => {
  expect(toOverrideOrder(ONCE)).toEqual(["network", "disk", "cd"]);
  expect(toOverrideOrder({ device: "cd", before: ["network", "disk", "cd"] })).toEqual([
    "cd",
    "network",
    "disk",
  ]);
});

test("isSameOrder() compares all of it", () => {
  expect(isSameOrder(["disk"], ["disk"])).toBe(true);
  expect(isSameOrder(["disk"], ["disk", "cd"])).toBe(false);
  expect(isSameOrder(["disk", "cd"], ["cd", "disk"])).toBe(false);
});
