import { expect, test } from "bun:test";
import {
  formatRecord,
  parseRecord,
} from "../../../../lib/providers/xenorchestra/machines/vm_record.ts";

const ID = "6fd7b5c7-a6ea-4790-a81d-6aa2d90fde1e";

test("parseRecord() reads what formatRecord() writes", () => {
  const record = { at: 5, task: "0mwr", prior: "0mwq", tries: 2, templates: [ID], pool: ID };
  expect(parseRecord(formatRecord(record))).toEqual(record);
  expect(parseRecord(formatRecord({ vm: ID, disks: [ID], offAt: 9 }))).toEqual({
    vm: ID,
    disks: [ID],
    offAt: 9,
  });
});

test.each([undefined, "", "{", "[]", '{"v":2,"at":1}', '{"v":1,"at":"now"}'])(
  "parseRecord() takes %p for an empty record",
  (text) => {
    expect(parseRecord(text)).toEqual({});
  },
);

test("formatRecord() stays below 1 KiB", () => {
  const many = Array.from({ length: 40 }, () => ID);
  const text = formatRecord({
    at: 1_800_000_000_000,
    task: ID,
    prior: ID,
    tries: 1000,
    refused: true,
    templates: many,
    pool: ID,
    vm: ID,
    disks: many,
    offAt: 1_800_000_000_000,
  });
  expect(text.length).toBeLessThan(1024);
  expect(parseRecord(text).disks).toHaveLength(16);
});
