import { describe, expect, test } from "bun:test";
import type { Coverage } from "../../../../lib/cloud/inventory/inventory.ts";
import type { InstanceState } from "../../../../lib/cloud/provider.ts";
import type { IdentityByProviderId } from "../../../../lib/providers/xenorchestra/model/identity.ts";
import { Memory } from "../../../../lib/providers/xenorchestra/memory.ts";
import { toPresent } from "../../../../lib/providers/xenorchestra/model/presence.ts";
import {
  findKnownPool,
  findSuspect,
  judgeShown,
  type KnownIdentity,
  listHalted,
  listPools,
  listSuspects,
  mayBeCopy,
  toQuestion,
} from "../../../../lib/providers/xenorchestra/proof/whereabouts.ts";
import { toInstance, toInventory } from "../../../support/cloud/instances.ts";

const NODE: IdentityByProviderId = { kind: "providerId", vmId: "vm", poolId: "a" };
const LABELLED: IdentityByProviderId = { ...NODE, labelledPoolId: "b" };
const UNMATCHED: KnownIdentity = { kind: "systemUuid", direct: "vm", swapped: "mv" };
const NOWHERE = new Memory();

/** A process that saw the VM in a pool. */
function seenIn(poolId: string): Memory {
  const memory = new Memory();
  memory.lastSeen.note("vm", poolId);
  return memory;
}

describe("a Node that was never matched", () => {
  const COMPLETE: Coverage = { complete: true, name: "Lyon" };
  const LOST: Coverage = { complete: false, name: "Paris", reason: "it is away" };
  const judge = (
    state: InstanceState,
    matchedBy: "systemUuid" | "swappedSystemUuid",
    lost: Coverage,
  ): string => {
    const instance = toInstance("vm", { region: "there", state });
    const coverage = new Map([
      ["there", COMPLETE],
      ["lost", lost],
    ]);
    const presence = judgeShown(toPresent(instance, matchedBy), UNMATCHED, {
      coverage,
      memory: NOWHERE,
    });
    return presence.kind === "unknown" ? `${presence.reason}: ${presence.message}` : presence.kind;
  };

  test.each(["systemUuid", "swappedSystemUuid"] as const)(
    "gets no halted VM by %s",
    (matchedBy) => {
      const said = judge("stopped", matchedBy, COMPLETE);
      expect(said).toStartWith("notCovered: VM vm in pool Lyon is stopped, but the kubelet");
      expect(said).toContain("may be a copy; if it is the Node's VM, start it, or wait");
      expect(judge("running", matchedBy, COMPLETE)).toBe("present");
      expect(judge("unknown", matchedBy, COMPLETE)).toBe("present");
    },
  );

  test("gets no VM by its byte-swapped UUID while a pool that was shown is lost", () => {
    const said = judge("running", "swappedSystemUuid", LOST);
    expect(said).toStartWith("notCovered: Cannot choose a VM: VM vm has the Node's system UUID");
    expect(said).toContain("but VM vm may be in pool Paris: it is away; reconnect that pool");
    expect(judge("running", "systemUuid", LOST)).toBe("present");
    const named: Coverage = { ...LOST, isOnlyNamed: true };
    expect(judge("running", "swappedSystemUuid", named)).toBe("present");
  });

  test("names halted VMs, in either order of their bytes; none of a Node with a provider ID", () => {
    const show = (state: InstanceState) =>
      new Map(["vm", "mv"].map((id) => [id, toInstance(id, { state })]));
    expect(listHalted([NODE, UNMATCHED], show("stopped"))).toEqual(["vm", "mv"]);
    expect(listHalted([NODE], show("stopped"))).toEqual([]);
    expect(listHalted([UNMATCHED], show("running"))).toEqual([]);
    expect(listHalted([UNMATCHED], show("unknown"))).toEqual([]);
  });
});

describe("findKnownPool()", () => {
  const cases: [string, KnownIdentity, Memory, string | undefined][] = [
    ["where this process saw it", LABELLED, seenIn("c"), "c"],
    ["else where the label says", LABELLED, NOWHERE, "b"],
    ["else where the provider ID says", NODE, NOWHERE, "a"],
    [
      "nowhere, for a provider ID without a pool",
      { kind: "providerId", vmId: "vm" },
      NOWHERE,
      undefined,
    ],
    ["nowhere, for a Node that was never matched", UNMATCHED, NOWHERE, undefined],
    ["where this process saw it, for a Node that was never matched", UNMATCHED, seenIn("c"), "c"],
  ];
  test.each(cases)("says %s", (_title, identity, { lastSeen }, expected) => {
    expect(findKnownPool("vm", identity, lastSeen)).toBe(expected);
  });

  test("says nothing of another VM than the Node's own", () => {
    expect(findKnownPool("other", LABELLED, NOWHERE.lastSeen)).toBeUndefined();
  });
});

describe("listPools()", () => {
  test("names every pool that may hold the VM, once", () => {
    expect(listPools(LABELLED, seenIn("c"))).toEqual(["a", "c", "b"]);
    expect(listPools(LABELLED, seenIn("a"))).toEqual(["a", "b"]);
    expect(listPools({ kind: "providerId", vmId: "vm", labelledPoolId: "b" }, NOWHERE)).toEqual([]);
    expect(listPools({ ...LABELLED, regionPoolId: "d" }, seenIn("a"))).toEqual(["a", "b", "d"]);
  });

  test("leaves out a pool that was removed for good, if the VM was last seen in another", () => {
    const connections = { isRemoved: (poolId: string) => poolId === "a" };
    const { lastSeen: inA } = seenIn("a");
    const { lastSeen: inB } = seenIn("b");
    expect(listPools(LABELLED, { lastSeen: inB, connections })).toEqual(["b"]);
    expect(listPools(LABELLED, { lastSeen: inA, connections })).toEqual(["a", "b"]);
    expect(listPools(LABELLED, { lastSeen: NOWHERE.lastSeen, connections })).toEqual(["a", "b"]);
  });
});

describe("toQuestion()", () => {
  test("says whether this process ever saw the VM", () => {
    const inventory = toInventory([]);
    expect(toQuestion(inventory, NODE, NOWHERE)).toMatchObject({ isSeen: false, poolIds: ["a"] });
    expect(toQuestion(inventory, NODE, seenIn("a"))).toMatchObject({
      isSeen: true,
      isMoving: false,
    });
  });
});

describe("a VM that is shown in another pool than the known one", () => {
  const COVERAGE = new Map<string, Coverage>([
    ["here", { complete: true }],
    ["lost", { complete: false, name: "Paris", reason: "it is away" }],
  ]);
  const cases: [InstanceState, string | undefined, string][] = [
    ["stopped", "here", "present"],
    ["stopped", "lost", "last in pool Paris, which is not shown in full: it is away"],
    [
      "stopped",
      "never",
      "last in pool never, which is not shown in full: Xen Orchestra has not shown the pool",
    ],
    ["unknown", "lost", "last in pool Paris"],
    ["running", "lost", "present"],
    ["running", "never", "present"],
    ["stopped", undefined, "present"],
    ["stopped", "there", "present"],
  ];

  test.each(cases)("that is %s, known in %p: %s", (state, poolId, expected) => {
    const instance = toInstance("vm", { region: "there", state });
    const memory = poolId === undefined ? NOWHERE : seenIn(poolId);
    const node: KnownIdentity = { kind: "providerId", vmId: "vm" };
    const presence = judgeShown(toPresent(instance, "providerId"), node, {
      coverage: COVERAGE,
      memory,
    });
    if (expected === "present") expect(presence).toMatchObject({ kind: "present", instance });
    else {
      const message = expect.stringContaining(expected);
      expect(presence).toMatchObject({ kind: "unknown", reason: "notCovered", message });
    }
  });

  test("may be a copy exactly when it does not run, and is suspected by its known pool", () => {
    for (const state of ["running", "stopped", "unknown"] as const) {
      const instance = toInstance("vm", { region: "b", state });
      const isSuspect = state !== "running";
      expect(mayBeCopy(instance, "a")).toBe(isSuspect);
      expect(mayBeCopy(instance, "b")).toBe(false);
      expect(mayBeCopy(instance, undefined)).toBe(false);
      expect(findSuspect(instance, NODE, NOWHERE)).toBe(isSuspect ? "a" : undefined);
      const instances = new Map([["vm", instance]]);
      const other: KnownIdentity = { kind: "systemUuid", direct: "x", swapped: "y" };
      const suspects = listSuspects([other, NODE], instances, NOWHERE);
      expect([...suspects]).toEqual(isSuspect ? [["vm", "a"]] : []);
    }
  });
});
