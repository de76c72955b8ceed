import { describe, expect, test } from "bun:test";
import { findRival, toRivalPresence } from "../../../lib/controllers/node/rivals.ts";
import { toInstance } from "../../support/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes.ts";

describe("findRival()", () => {
  const cases: readonly (readonly [string, NodeOptions, NodeOptions, string | undefined])[] = [
    ["names a Node with the provider ID", {}, { providerId: "test://i" }, "other"],
    [
      "names a Node with the same preset provider ID",
      { providerId: "test://x" },
      { providerId: "test://x" },
      "other",
    ],
    [
      "names a Node with the system UUID in any case",
      { systemUuid: "AB" },
      { systemUuid: "ab" },
      "other",
    ],
    [
      "finds none among different ones",
      { systemUuid: "a" },
      { systemUuid: "b", providerId: "test://j" },
      undefined,
    ],
    [
      "lets a preset provider ID count more than a system UUID",
      { providerId: "test://x", systemUuid: "a" },
      { providerId: "test://y", systemUuid: "a" },
      undefined,
    ],
    [
      "names a Node that took the machine under another provider ID",
      { systemUuid: "a" },
      { providerId: "test://old-pool/i", systemUuid: "a" },
      "other",
    ],
    ["does not take two empty system UUIDs for equal", {}, {}, undefined],
  ];
  test.each(cases)("%s", (_title, mine, theirs, rival) => {
    const node = toNode("n", mine);
    expect(findRival(node, toInstance("i"), [node, toNode("other", theirs)])).toBe(rival);
  });
});

test("toRivalPresence() is ambiguous and names both", () => {
  const presence = toRivalPresence(toInstance("i"), "other");
  expect(presence).toMatchObject({ kind: "unknown", reason: "ambiguous" });
  expect(JSON.stringify(presence)).toContain("test://i");
  expect(JSON.stringify(presence)).toContain("other");
});
