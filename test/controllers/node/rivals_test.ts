import { describe, expect, test } from "bun:test";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { isUninitialized } from "../../../lib/controllers/identity.ts";
import { MachineClaims } from "../../../lib/controllers/node/plan.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

describe("MachineClaims.findRival()", () => {
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
    const claims = MachineClaims.of([node, toNode("other", theirs)], {}, () => undefined);
    expect(claims.findRival(node, toInstance("i"))?.name).toBe(rival);
  });
});

describe("MachineClaims of a cloud whose provider IDs can be written in several ways", () => {
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
    const claims = MachineClaims.of(
      [node, toNode("other", theirs)],
      { toInstanceId },
      () => undefined,
    );
    expect(claims.findRival(node, toInstance("i"))?.name).toBe(rival);
  });
});

const U = "82cebe63-c91f-5088-97f3-6750b1f45970";
/** The bytes of {@linkcode U}, some of them reversed. */
const W = "63bece82-1fc9-8850-97f3-6750b1f45970";

describe("MachineClaims.findRival() among Nodes that report one system UUID in two byte orders", () => {
  const present = (id: string): Presence => {
    return { kind: "present", instance: toInstance(id), matchedBy: "systemUuid" };
  };
  const unknown: Presence = { kind: "unknown", reason: "notListed", message: "" };
  const cases: readonly (readonly [string, NodeOptions, Presence | undefined, unknown])[] = [
    ["finds none that was resolved to another machine", { systemUuid: W }, present(W), undefined],
    [
      "finds none that has another machine and says so by its provider ID",
      { systemUuid: U, providerId: `test://${W}` },
      present(W),
      undefined,
    ],
    [
      "is certain of one that was resolved to the same machine",
      { systemUuid: W },
      present(U),
      { name: "other", isCertain: true },
    ],
    [
      "waits for one that was not resolved yet",
      { systemUuid: W },
      unknown,
      { name: "other", isCertain: false },
    ],
    [
      "waits for one that names one machine and reports another",
      { systemUuid: U, providerId: "test://x" },
      { ...unknown, reason: "ambiguous" },
      { name: "other", isCertain: false },
    ],
    [
      "waits for one of which nothing is known",
      { systemUuid: W },
      undefined,
      {
        name: "other",
        isCertain: false,
      },
    ],
  ];
  test.each(cases)("%s", (_title, theirs, presence, rival) => {
    const node = toNode("n", { systemUuid: U });
    const claims = MachineClaims.of([node, toNode("other", theirs)], {}, (name) =>
      name === "other" ? presence : undefined,
    );
    expect(claims.findRival(node, toInstance(U))).toEqual(rival as never);
  });

  test("finds the third of three when the second was resolved to another machine", () => {
    const machines = new Map([
      ["b", present(W)],
      ["c", present(U)],
    ]);
    const nodes = [
      toNode("a", { systemUuid: U }),
      toNode("b", { systemUuid: W }),
      toNode("c", { systemUuid: U }),
    ] as const;
    const claims = MachineClaims.of(nodes, {}, (name) => machines.get(name));
    expect(claims.findRival(nodes[0], toInstance(U))).toEqual({ name: "c", isCertain: true });
  });
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

describe("MachineClaims.note()", () => {
  const node = toNode("n", { systemUuid: "a" });

  test("forgets what a Node claimed before it changed, and what one claimed that is gone", () => {
    const claims = MachineClaims.of(
      [node, toNode("other", { systemUuid: "a" })],
      {},
      () => undefined,
    );
    claims.note("other", toNode("other", { systemUuid: "b" }));
    expect(claims.findRival(node, toInstance("i"))).toBeUndefined();
    claims.note("other", toNode("other", { systemUuid: "a" }));
    expect(claims.findRival(node, toInstance("i"))?.name).toBe("other");
    claims.note("other", undefined);
    expect(claims.findRival(node, toInstance("i"))).toBeUndefined();
  });

  test("keeps the claims of the others when one of three is gone", () => {
    const three = [node, toNode("x", { systemUuid: "a" }), toNode("y", { systemUuid: "A" })];
    const claims = MachineClaims.of(three, {}, () => undefined);
    claims.note("x", undefined);
    expect(claims.findRival(node, toInstance("i"))?.name).toBe("y");
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
