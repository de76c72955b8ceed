import { describe, expect, test } from "bun:test";
import { Claims } from "../../../lib/controllers/node/rivals.ts";
import { toInstance } from "../../support/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes.ts";

describe("Claims.findRival()", () => {
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
      "names a Node with the same system UUID in the other byte order",
      { systemUuid: "82cebe63-c91f-5088-97f3-6750b1f45970" },
      { systemUuid: "63BECE82-1FC9-8850-97F3-6750B1F45970" },
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
    [
      "does not take a provider ID for a system UUID",
      { systemUuid: "a" },
      { providerId: "a" },
      undefined,
    ],
  ];
  test.each(cases)("%s", (_title, mine, theirs, rival) => {
    const node = toNode("n", mine);
    const claims = Claims.of([node, toNode("other", theirs)], {});
    expect(claims.findRival(node, toInstance("i"))).toBe(rival);
  });
});

describe("Claims of a cloud whose provider IDs can be written in several ways", () => {
  // As that of Xen Orchestra: the last part is the machine, what stands before it is where it was.
  const toInstanceId = (id: string): string | undefined => /^test:.*\/(\w+)$/.exec(id)?.[1];
  const cases: readonly (readonly [string, NodeOptions, NodeOptions, string | undefined])[] = [
    [
      "names a Node whose preset provider ID is written another way",
      { providerId: "test://pool/i" },
      { providerId: "test:///i" },
      "other",
    ],
    [
      "names a Node whose provider ID tells where the machine was before",
      {},
      { providerId: "test://old-pool/i" },
      "other",
    ],
    [
      "finds none whose provider ID names another machine",
      { providerId: "test://pool/i" },
      { providerId: "test://pool/j" },
      undefined,
    ],
    [
      "takes an ID of no machine as it is written",
      { providerId: "x" },
      { providerId: "x" },
      "other",
    ],
  ];
  test.each(cases)("%s", (_title, mine, theirs, rival) => {
    const node = toNode("n", mine);
    const claims = Claims.of([node, toNode("other", theirs)], { toInstanceId });
    expect(claims.findRival(node, toInstance("i"))).toBe(rival);
  });
});

describe("Claims.note()", () => {
  const node = toNode("n", { systemUuid: "a" });

  test("forgets what a Node claimed before it changed, and what one claimed that is gone", () => {
    const claims = Claims.of([node, toNode("other", { systemUuid: "a" })], {});
    claims.note("other", toNode("other", { systemUuid: "b" }));
    expect(claims.findRival(node, toInstance("i"))).toBeUndefined();
    claims.note("other", toNode("other", { systemUuid: "a" }));
    expect(claims.findRival(node, toInstance("i"))).toBe("other");
    claims.note("other", undefined);
    expect(claims.findRival(node, toInstance("i"))).toBeUndefined();
  });

  test("keeps the claims of the others when one of three is gone", () => {
    const three = [node, toNode("x", { systemUuid: "a" }), toNode("y", { systemUuid: "A" })];
    const claims = Claims.of(three, {});
    claims.note("x", undefined);
    expect(claims.findRival(node, toInstance("i"))).toBe("y");
  });
});

describe("Claims.refuseRival()", () => {
  const instance = toInstance("i");
  const present = { kind: "present", instance, matchedBy: "systemUuid" } as const;
  const claims = Claims.of([toNode("other", { providerId: "test://i" })], {});

  test("is ambiguous and names both, of a Node that waits for its cloud", () => {
    const presence = claims.refuseRival(toNode("a"), present);
    expect(presence).toMatchObject({ kind: "unknown", reason: "ambiguous" });
    expect(JSON.stringify(presence)).toContain("test://i");
    expect(JSON.stringify(presence)).toContain("other");
  });

  test("leaves every other Node what the cloud says of it", () => {
    expect(claims.refuseRival(toNode("other"), present)).toBe(present);
    expect(claims.refuseRival(toNode("a", { uninitialized: false }), present)).toBe(present);
    const foreign = { kind: "foreign", providerId: "aws://x" } as const;
    expect(claims.refuseRival(toNode("a"), foreign)).toBe(foreign);
  });
});
