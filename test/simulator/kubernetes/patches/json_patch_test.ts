import { describe, expect, test } from "bun:test";
import { applyJsonPatch } from "../../../../lib/simulator/kubernetes/patches/json_patch.ts";

describe("applyJsonPatch()", () => {
  test.each([
    ["adds at an index", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    ["adds at the end", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
    ["unescapes", { "x/y": 1 }, [{ op: "replace", path: "/x~1y", value: 2 }], { "x/y": 2 }],
    ["removes", { a: [{ b: 1, c: 2 }] }, [{ op: "remove", path: "/a/0/b" }], { a: [{ c: 2 }] }],
    ["moves", { a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
    ["copies", { a: 1 }, [{ op: "copy", from: "/a", path: "/b" }], { a: 1, b: 1 }],
  ])("%s", (_title, target, patch, expected) => {
    expect(applyJsonPatch(target, patch)).toEqual(expected);
  });

  test.each([
    [[{ op: "remove", path: "/x" }]],
    [[{ op: "replace", path: "/x", value: 1 }]],
    [[{ op: "test", path: "/a", value: 2 }]],
    [[{ op: "add", path: "/l/5", value: 2 }]],
    [[{ op: "what", path: "/a" }]],
    [{ a: 2 }],
  ])("refuses %p", (patch) => {
    expect(() => applyJsonPatch({ a: 1, l: [] }, patch)).toThrow();
  });
});
