import { describe, expect, test } from "bun:test";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { isUninitialized } from "../../../lib/controllers/identity.ts";
import { MachineClaims } from "../../../lib/controllers/node/plan.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

const U = "82cebe63-c91f-5088-97f3-6750b1f45970";
/** The bytes of {@linkcode U}, some of them reversed. */
const W = "63bece82-1fc9-8850-97f3-6750b1f45970";
const CLAIMED = "is also claimed by Node";
const PERHAPS = "may also be the machine of Node";
const UNKNOWN: Presence = { kind: "unknown", reason: "notListed", message: "" };

function toPresent(id: string): Presence {
  return { kind: "present", instance: toInstance(id), matchedBy: "systemUuid" };
}

// As that of Xen Orchestra: the last part is the machine, what stands before it is where it was.
const toInstanceId = (id: string): string | undefined => /^test:.*\/(\w+)$/.exec(id)?.[1];

test.each<[what: string, mine: NodeOptions, theirs: NodeOptions, Presence, said: string]>([
  ["with its provider ID", {}, { providerId: "test://i" }, UNKNOWN, CLAIMED],
  ["with its provider ID from before", {}, { providerId: "test://p1/i" }, UNKNOWN, CLAIMED],
  ["of one preset ID", { providerId: "test://x" }, { providerId: "test://x" }, UNKNOWN, CLAIMED],
  ["of one ID of no machine", { providerId: "x" }, { providerId: "x" }, UNKNOWN, CLAIMED],
  [
    "of its ID in another form",
    { providerId: "test://p/i" },
    { providerId: "test:///i" },
    UNKNOWN,
    CLAIMED,
  ],
  ["of another ID", { providerId: "test://p/i" }, { providerId: "test://p/j" }, UNKNOWN, ""],
  [
    "of another ID and one UUID",
    { providerId: "test://x", systemUuid: U },
    { providerId: "test://y", systemUuid: U },
    UNKNOWN,
    "",
  ],
  ["of one UUID in any case", { systemUuid: "AB" }, { systemUuid: "ab" }, UNKNOWN, PERHAPS],
  [
    "of one UUID in other bytes",
    { systemUuid: U },
    { systemUuid: W.toUpperCase() },
    UNKNOWN,
    PERHAPS,
  ],
  [
    "of one UUID and another ID",
    { systemUuid: U },
    { systemUuid: U, providerId: "x" },
    UNKNOWN,
    PERHAPS,
  ],
  ["resolved to the same machine", { systemUuid: U }, { systemUuid: W }, toPresent("i"), CLAIMED],
  ["resolved to another machine", { systemUuid: U }, { systemUuid: W }, toPresent("j"), ""],
  ["of another UUID", { systemUuid: U }, { systemUuid: "b" }, UNKNOWN, ""],
  ["without a UUID, as it is", {}, {}, UNKNOWN, ""],
  ["whose ID is its UUID", { systemUuid: "a" }, { providerId: "a" }, UNKNOWN, ""],
])("MachineClaims judges beside a Node %s", (_what, mine, theirs, presence, said) => {
  const node = toNode("n", mine);
  const nodes = [node, toNode("other", theirs)];
  const claims = MachineClaims.of(nodes, { toInstanceId }, () => presence);
  const judged = claims.refuseRival(node, toPresent("i"));
  if (said === "") expect(judged.kind).toBe("present");
  else expect(judged).toMatchObject({ message: expect.stringContaining(`${said} "other"`) });
});

test("MachineClaims forget what a Node claimed before it changed or went, and nothing of others", () => {
  const node = toNode("n", { systemUuid: "a" });
  const claims = MachineClaims.of([node], {}, () => UNKNOWN);
  const findRival = (): string | undefined => claims.findRival(node, toInstance("i"))?.name;
  for (const name of ["x", "y"]) claims.note(name, toNode(name, { systemUuid: "a" }));
  claims.note("x", toNode("x", { systemUuid: "b" }));
  expect(findRival()).toBe("y");
  claims.note("y", undefined);
  expect(findRival()).toBeUndefined();
});

describe("MachineClaims of two Nodes in a cloud that matches by a byte-swapped system UUID", () => {
  const clouds = [[U], [W], [U, W]];
  const reports = [U, W].flatMap((one) => [U, W].map((two) => [one, two] as const));
  const presets = ["", U, W];
  const orders = [
    ["a", "b"],
    ["b", "a"],
  ] as const;
  const say = (id: string): string => (id === U ? "U" : "its twin");
  const stories = clouds.flatMap((vms) =>
    reports.flatMap(([a, b]) =>
      presets.flatMap((preset) =>
        orders.map((order) => {
          const has = preset && `, b has ${say(preset)}`;
          const title = `VMs ${vms.map(say).join(", ")}: a reports ${say(a)}, b ${say(b)}${has}, ${order[0]} first`;
          return { title, vms, a, b, preset, order };
        }),
      ),
    ),
  );

  test.each(stories)("$title", ({ vms, a, b, preset, order }) => {
    const nodes = new Map<string, Node>();
    /** A byte-swapped form is known to be right only once the cloud was asked for the other one. */
    const asked = new Set<string>();
    const resolve = (name: string): Presence | undefined => {
      const node = nodes.get(name);
      if (node === undefined) return undefined;
      const direct = node.spec?.providerID?.slice("test://".length);
      const reported = node.status?.nodeInfo?.systemUUID ?? "";
      const forms = direct
        ? [direct]
        : asked.has(name)
          ? [reported, swapUuid(reported)]
          : [reported];
      const found = forms.find((id) => vms.includes(id));
      if (found === undefined) return { kind: "unknown", reason: "notListed", message: "" };
      return { kind: "present", instance: toInstance(found), matchedBy: "systemUuid" };
    };
    const claims = new MachineClaims({}, resolve);
    const put = (name: string, options: NodeOptions): void => {
      nodes.set(name, toNode(name, options));
      claims.note(name, nodes.get(name));
    };
    put("a", { systemUuid: a });
    // The second one may have been initialised before.
    put("b", {
      systemUuid: b,
      ...(preset && { providerId: `test://${preset}`, uninitialized: false }),
    });
    for (const name of [...order, ...order, ...order]) {
      const node = nodes.get(name);
      const presence = resolve(name);
      asked.add(name);
      if (node === undefined || presence === undefined || !isUninitialized(node)) continue;
      const judged = claims.refuseRival(node, presence);
      if (judged.kind !== "present") continue;
      const { providerId } = judged.instance;
      const systemUuid = name === "a" ? a : b;
      put(name, { systemUuid, providerId, uninitialized: false });
    }
    const taken = [...nodes.values()].flatMap(({ spec }) => spec?.providerID ?? []);
    expect(taken).toHaveLength(new Set(taken).size);
    const isClear = preset === "" && a !== b && vms.length === 2;
    if (isClear) expect(taken).toEqual([`test://${a}`, `test://${b}`]);
  });
});

describe("MachineClaims.refuseRival()", () => {
  const instance = toInstance("i");
  const present = { kind: "present", instance, matchedBy: "systemUuid" } as const;
  const claims = MachineClaims.of(
    [toNode("other", { providerId: "test://i" })],
    {},
    () => undefined,
  );

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

  // As CloudStack: version 1.1 of another controller wrote a provider ID that names no machine.
  test.each<[string, NodeOptions, NodeOptions, string, Presence["kind"]]>([
    ["refuses a new one the machine of an old one", {}, { providerId: "test" }, "i", "unknown"],
    [
      "of two that wait takes none for the other",
      { providerId: "test" },
      { providerId: "test" },
      "j",
      "present",
    ],
    ["leaves a new one its own machine", {}, { providerId: "test" }, "j", "present"],
    [
      "refuses one that waits what another one has",
      { providerId: "test" },
      { providerId: "test://i" },
      "i",
      "unknown",
    ],
  ])(
    "among Nodes with a provider ID that names no machine, %s",
    (_title, mine, other, id, kind) => {
      const toInstanceId = (one: string): string | undefined => /^test:\/\/(\w+)$/.exec(one)?.[1];
      const node = toNode("a.example.com", { ...mine, systemUuid: "u" });
      const nodes = [node, toNode("a", { ...other, systemUuid: "v", uninitialized: false })];
      const byName = { ...present, matchedBy: "name" } as const;
      const theirs = { ...byName, instance: toInstance(id) };
      const all = MachineClaims.of(nodes, { toInstanceId }, (one) =>
        one === "a" ? theirs : byName,
      );
      expect(all.refuseRival(node, byName).kind).toBe(kind);
    },
  );

  test.each<[string, string, Presence | undefined, boolean]>([
    ["has the same machine by its name", "a.example.com", { ...present, matchedBy: "name" }, true],
    ["has another machine", "a.example.com", { ...present, instance: toInstance("j") }, false],
    ["has none", "a.example.com", undefined, false],
    ["has another name", "b.example.com", { ...present, matchedBy: "name" }, false],
  ])("of Nodes that wait at once, one of which %s", (_title, name, rival, isRefused) => {
    const byName = { ...present, matchedBy: "name" } as const;
    const nodes = [toNode("a", { systemUuid: "u" }), toNode(name, { systemUuid: "v" })];
    const all = MachineClaims.of(nodes, {}, (one) => (one === name ? rival : byName));
    const presence = all.refuseRival(toNode("a", { systemUuid: "u" }), byName);
    expect(presence.kind).toBe(isRefused ? "unknown" : "present");
    if (isRefused) expect(JSON.stringify(presence)).toContain(name);
    expect(all.refuseRival(toNode("a", { systemUuid: "u" }), present)).toBe(present);
  });

  test.each<[string, Presence | undefined, string, string]>([
    ["is still looked up", undefined, "Landfall waits until it is known", "another controller"],
    ["is another controller's", { kind: "foreign" }, "another controller", "waits"],
  ])(
    "says what to do about a Node with the same system UUID that %s",
    (_title, rival, says, not) => {
      const node = toNode("a", { systemUuid: "u" });
      const other = toNode("other", { systemUuid: "u", providerId: "elsewhere://x" });
      const presence = MachineClaims.of([node, other], {}, () => rival).refuseRival(node, present);
      expect(presence).toMatchObject({
        reason: "ambiguous",
        message: expect.stringMatching(
          RegExp(`${says}.*delete the Node that does not use this machine any more`),
        ),
      });
      expect(presence).not.toHaveProperty("message", expect.stringContaining(not));
    },
  );
});
