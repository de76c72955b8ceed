import { describe, expect, test } from "bun:test";
import { ChangeHints } from "../../../lib/cloud/inventory/change_hints.ts";

const always = (): boolean => true;

function toIds(count: number, from = 0): Set<string> {
  return new Set(Array.from({ length: count }, (_, at) => `vm${at + from}`));
}

describe("ChangeHints", () => {
  test("has nothing to do at first, and after it was cleared", () => {
    const hints = new ChangeHints();
    expect(hints.isEmpty).toBe(true);
    hints.add("everything", always);
    hints.add(toIds(1), always);
    expect(hints.isEmpty).toBe(false);
    hints.clear();
    expect([hints.isEmpty, hints.due]).toEqual([true, new Set()]);
  });

  test("names up to eight instances, each once", () => {
    const hints = new ChangeHints();
    for (const ids of [toIds(5), toIds(5), toIds(3, 5)]) expect(hints.add(ids, always)).toBe(true);
    expect(hints.due).toEqual(toIds(8));
  });

  test.each([
    ["nine instances at once", [toIds(9)]],
    ["nine, one after the other", [...toIds(9)].map((id) => new Set([id]))],
    ["anything", ["everything"]],
    ["anything and an instance", [toIds(1), "everything", toIds(1, 1)]],
  ] as const)("asks for everything after hints at %s", (_title, all) => {
    const hints = new ChangeHints();
    for (const hint of all) hints.add(hint, always);
    expect(hints.due).toBe("everything");
  });

  test("passes over instances that nobody cares about, however many", () => {
    const hints = new ChangeHints();
    const isOfNode = (id: string): boolean => id === "vm7";
    expect(hints.add(toIds(5), isOfNode)).toBe(false);
    expect(hints.isEmpty).toBe(true);
    expect(hints.add(toIds(500), isOfNode)).toBe(true);
    expect(hints.due).toEqual(new Set(["vm7"]));
    expect(hints.add("everything", isOfNode)).toBe(true);
  });
});
