import { expect, test } from "bun:test";
import {
  listUnreadable,
  listUnreadableNames,
} from "../../../../lib/providers/cloudstack/session/unreadable_names.ts";

test("listUnreadable() lists the objects that are not among the readable ones", () => {
  const raw = [{ id: "A", name: "readable" }, { id: "b", port: "x" }, null];
  expect(listUnreadable(raw, [{ id: "a" }])).toEqual([{ id: "b", port: "x" }, {}]);
  expect(listUnreadable(raw.slice(0, 1), [{ id: "a" }])).toEqual([]);
});

test("listUnreadableNames() lists the names of what is not among the readable objects", () => {
  const raw = [
    { id: "A", name: "readable" },
    { id: "b", name: "Broken" },
    { name: "No-ID" },
    { id: "c", name: 7 },
    null,
    "text",
  ];
  expect([...listUnreadableNames(raw, [{ id: "a" }])]).toEqual(["broken", "no-id"]);
});

test("listUnreadableNames() lists nothing of a list that can be read", () => {
  expect(listUnreadableNames([{ id: "a", name: "one" }], [{ id: "a" }]).size).toBe(0);
});
