import { describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity, Presence } from "../../../../lib/cloud/provider.ts";
import { parseIdentity } from "../../../../lib/providers/xenorchestra/model/identity.ts";
import { PoolScope } from "../../../../lib/providers/xenorchestra/scope/pool_scope.ts";
import { toInstance } from "../../../support/cloud/instances.ts";
import { POOL_LYON, POOL_PARIS, WORKER_1 } from "../fake_server.ts";

const KNOWN: Pick<Inventory, "coverage" | "instances"> = {
  coverage: new Map([
    [POOL_PARIS, { complete: true, name: "Paris" }],
    // Lost, but shown before.
    [POOL_LYON, { complete: false, name: "Lyon" }],
  ]),
  instances: new Map([[WORKER_1, toInstance(WORKER_1, { region: POOL_PARIS })]]),
};
const NOTHING: typeof KNOWN = { coverage: new Map(), instances: new Map() };

describe("PoolScope.owns()", () => {
  test.each<[string, readonly string[] | undefined, boolean, boolean]>([
    ["all without the setting", undefined, true, true],
    ["by UUID", [POOL_PARIS], true, false],
    ["by UUID in another form", [POOL_PARIS.toUpperCase()], true, false],
    ["by name", ["Lyon"], false, true],
    ["by name and UUID", ["Lyon", POOL_PARIS], true, true],
    ["none by a name that no pool has", ["Nice"], false, false],
    ["none by part of a name", ["Par"], false, false],
  ])("chooses %s", (_title, pools, paris, lyon) => {
    const scope = toScope(pools);
    expect([scope.owns(POOL_PARIS, KNOWN), scope.owns(POOL_LYON, KNOWN)]).toEqual([paris, lyon]);
  });

  test("knows a UUID before any pool is shown, and a name only afterwards", () => {
    expect(toScope([POOL_PARIS]).owns(POOL_PARIS, NOTHING)).toBe(true);
    expect(toScope(["Paris"]).owns(POOL_PARIS, NOTHING)).toBe(false);
  });

  test("keeps what a pool was called when it was shown last, after that was removed for good", () => {
    const lastNames = new Map([[POOL_PARIS, "Paris"]]);
    const scope = new PoolScope(["Paris"], lastNames);
    expect(scope.owns(POOL_PARIS, NOTHING)).toBe(true);
    const renamed = new Map([[POOL_PARIS, { complete: true, name: "Nice" }]]);
    expect(scope.owns(POOL_PARIS, { coverage: renamed })).toBe(false);
    lastNames.set(POOL_PARIS, "Nice");
    expect(scope.owns(POOL_PARIS, NOTHING)).toBe(false);
  });
});

test("PoolScope.listUnknown() lists what no pool that was shown is called", () => {
  const scope = toScope(["Paris", "Nice", POOL_LYON]);
  expect(scope.listUnknown(KNOWN)).toEqual(["Nice"]);
  expect(scope.listUnknown(NOTHING)).toEqual(["Paris", "Nice", POOL_LYON]);
  expect(toScope(undefined).listUnknown(NOTHING)).toEqual([]);
});

describe("PoolScope.refuse()", () => {
  test.each<[string, NodeIdentity, boolean]>([
    ["of a pool of ours", toNode(`xenorchestra://${POOL_PARIS}/${WORKER_1}`), false],
    ["of another pool", toNode(`xenorchestra://${POOL_LYON}/${WORKER_1}`), true],
    ["without a pool, whose VM is in ours", toNode(`xenorchestra:///${WORKER_1}`), false],
    ["without a pool, whose VM is not shown", toNode(`xenorchestra:///${POOL_LYON}`), true],
    ["without a provider ID", { name: "n", systemUuid: WORKER_1 }, false],
    ["of another cloud, which is refused elsewhere", toNode("aws:///i-1"), false],
  ])("refuses a Node %s: %p", (_title, node, isRefused) => {
    const refusal = toScope(["Paris"]).refuse(parseIdentity(node), KNOWN);
    expect(refusal?.kind).toBe(isRefused ? "foreign" : undefined);
    expect(toScope(undefined).refuse(parseIdentity(node), KNOWN)).toBeUndefined();
  });
});

describe("PoolScope.place()", () => {
  const instance = toInstance(WORKER_1, { region: POOL_LYON });
  const present: Presence = { kind: "present", instance, matchedBy: "providerId" };
  const scope = toScope(["Paris"]);

  test("keeps a Node of ours whose VM is in another pool, with a caution", () => {
    const identity = parseIdentity(toNode(`xenorchestra://${POOL_PARIS}/${WORKER_1}`));
    const placed = scope.place(identity, present, KNOWN);
    expect(placed).toMatchObject({ kind: "present", instance });
    expect(placed).toHaveProperty("caution", expect.stringContaining("pool Lyon"));
  });

  test("leaves a Node without a provider ID to others when its VM is in another pool", () => {
    const identity = parseIdentity({ name: "n", systemUuid: WORKER_1 });
    expect(scope.place(identity, present, KNOWN).kind).toBe("foreign");
  });

  test("says nothing more of a VM in a pool of ours, nor of one that is not there", () => {
    const identity = parseIdentity({ name: "n", systemUuid: WORKER_1 });
    const here: Presence = { ...present, instance: toInstance(WORKER_1, { region: POOL_PARIS }) };
    expect(scope.place(identity, here, KNOWN)).toBe(here);
    const unknown: Presence = { kind: "unknown", reason: "notFound", message: "no" };
    expect(scope.place(identity, unknown, KNOWN)).toBe(unknown);
  });
});

function toNode(providerId: string): NodeIdentity {
  return { name: "n", providerId };
}

function toScope(pools: readonly string[] | undefined): PoolScope {
  return new PoolScope(pools, new Map());
}
