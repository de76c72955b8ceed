import { describe, expect, test } from "bun:test";
import { describeVino, judgeState } from "../../../lib/controllers/vino/describe.ts";
import { toHostName } from "../../../lib/controllers/vino/hosts/names.ts";
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import { toEntry, toObject, toView, VINO_OWNER } from "../../support/vino/known.ts";
import { HOST_CLUSTER_NAME } from "../../../lib/controllers/words.ts";
import { type BareMetalHost, VINO_UID } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { MachinesQuestion } from "../../../lib/cloud/capabilities/machines.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { InventoryListener, InventorySource } from "../../../lib/cloud/inventory/source.ts";
import {
  fromInventory,
  readLastView,
  untilInventory,
} from "../../../lib/controllers/vino/inventory.ts";
import { toInventory } from "../../support/cloud/instances.ts";

const CONDITION = { type: "Ready", message: "", lastTransitionTime: "" };

function toVino(
  status: "True" | "False",
  reason: string,
  metadata: Partial<Vino["metadata"]> = {},
): Vino {
  return {
    metadata: { ...VINO_OWNER, generation: 2, ...metadata },
    status: { observedGeneration: 2, conditions: [{ ...CONDITION, status, reason }] },
  };
}

const FAILED = { at: 0, outcome: "error", error: "no" } as const;

test.each([
  ["ready", toVino("True", "ReconciliationSucceeded"), undefined],
  ["working", toVino("False", "Progressing"), undefined],
  ["working", toVino("True", "ReconciliationSucceeded", { generation: 3 }), undefined],
  ["working", { metadata: VINO_OWNER }, undefined],
  ["waiting", toVino("False", "CloudUnreachable"), undefined],
  ["waiting", toVino("False", "HostsInUse"), undefined],
  ["failing", toVino("False", "MachineFailure"), undefined],
  ["failing", toVino("False", "FleetLimit"), undefined],
  ["failing", toVino("True", "ReconciliationSucceeded"), FAILED],
  ["deleting", toVino("True", "x", { deletionTimestamp: "2026-01-01T00:00:00Z" }), FAILED],
])("judgeState() is %s", (expected, vino, outcome) => {
  expect(judgeState(vino, outcome)).toBe(expected as ReturnType<typeof judgeState>);
});

describe("describeVino()", () => {
  const vino = toVino("True", "ReconciliationSucceeded");

  const nowhere = { findHost: () => undefined };

  test("shows wanted beside actual for each machine", () => {
    const parts = [{ name: "CPUs", wanted: "4", actual: "2" }];
    const message = "no room";
    const object = toObject(toEntry("worker", 0, { host: "h2", message }));
    const machines = [{ ...object, status: { ...object.status, differences: parts } }];
    const counts = { wanted: 1, machines: 1, ready: 1, published: 0, summary: "1/1" };
    const shown = describeVino(
      { ...vino, status: { ...vino.status, counts } },
      { machines, outcome: { at: 0, outcome: "ok" }, ...nowhere },
    );
    expect(shown).toMatchObject({
      state: "ready",
      wanted: 1,
      ready: 1,
      machines: [{ index: 0, host: "h2", isWanted: true, parts, message: "No room" }],
      lastReconcile: { at: "1970-01-01T00:00:00.000Z", outcome: "ok" },
    });
  });

  test("shows no records, and what the spec does not want", () => {
    const object = toObject(toEntry("worker", 0, { record: "task-1" }));
    const conditions = [
      { ...CONDITION, type: "Removed", status: "False", reason: "Kept" } as const,
    ];
    const shown = describeVino(vino, {
      machines: [{ ...object, status: { ...object.status, conditions } }],
      outcome: undefined,
      ...nowhere,
    });
    expect(shown.machines).toMatchObject([{ index: 0, state: "Ready", isWanted: false }]);
    expect(JSON.stringify(shown)).not.toContain("task-1");
    expect(shown.lastReconcile).toBeNull();
  });

  test("shows what uses a machine, by its own host only", () => {
    const labels = { [VINO_UID]: VINO_OWNER.uid, [HOST_CLUSTER_NAME]: "blue" };
    const toShown = (changes: Partial<BareMetalHost["metadata"]>): object => {
      const shown = describeVino(vino, {
        machines: [toObject(toEntry("worker", 0))],
        outcome: undefined,
        findHost: (name) => ({
          metadata: { name, labels, ...changes },
          spec: { consumerRef: { kind: "Metal3Machine", namespace: "m", name: "w" } },
          status: { provisioning: { state: "provisioned" } },
        }),
      });
      return shown.machines[0] ?? {};
    };
    expect(toShown({})).toMatchObject({
      hostName: toHostName({ vino: VINO_OWNER.name, role: "worker", index: 0 }),
      provisioning: "provisioned",
      consumer: "Metal3Machine m/w",
      cluster: "blue",
    });
    expect(toShown({ labels: {} })).not.toHaveProperty("consumer");
  });
});

const { signal } = new AbortController();

class Source implements Pick<InventorySource, "current" | "lastError" | "subscribe"> {
  current: InventorySource["current"];
  lastError: Error | undefined;
  readonly listeners: Set<InventoryListener> = new Set();

  subscribe(listener: InventoryListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(changed: Parameters<InventoryListener>[0]): void {
    for (const listener of this.listeners) listener(changed, false);
  }
}

const VINOES = { keys: () => ["metal/a", "metal/b"] };

test("fromInventory() names all Vinos after each inventory and each read of single VMs", () => {
  const source = new Source();
  const told: string[][] = [];
  const end = fromInventory(source, VINOES).subscribe((keys) => {
    told.push([...keys]);
  });
  const show = (observedAtMs: number, changed: Parameters<Source["tell"]>[0]): string[] => {
    told.length = 0;
    source.current = { ...toInventory([]), observedAtMs };
    source.tell(changed);
    return told.flat();
  };
  const all = ["metal/a", "metal/b"];
  expect(show(1, new Set())).toEqual(all);
  expect(show(1, new Set(["vm-1"]))).toEqual(all);
  expect(show(1, "everything")).toEqual(all);
  // A refresh that failed shows nothing new.
  expect(show(1, new Set())).toEqual([]);
  expect(show(2, new Set())).toEqual(all);
  end();
  expect(show(3, "everything")).toEqual([]);
});

test("untilInventory() waits for the first inventory or its failure", async () => {
  const source = new Source();
  let isOver = false;
  const waiting = untilInventory(source, signal).then(() => (isOver = true));
  source.tell(new Set());
  await Promise.resolve();
  expect(isOver).toBe(false);
  source.lastError = new Error("no answer");
  source.tell(new Set());
  await waiting;
  expect(source.listeners.size).toBe(0);
  source.lastError = undefined;
  source.current = toInventory([]);
  await untilInventory(source, signal);
});

test("untilInventory() stops waiting when the signal aborts", async () => {
  const source = new Source();
  const stop = new AbortController();
  const waiting = untilInventory(source, stop.signal);
  stop.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  expect(source.listeners.size).toBe(0);
});

test("readLastView() asks for no look at the cloud", async () => {
  const asked: MachinesQuestion[] = [];
  const view = toView([]);
  const observe = async (question: MachinesQuestion) => {
    asked.push(question);
    return view;
  };
  expect(await readLastView({ observe }, signal)).toBe(view);
  expect(asked).toEqual([{ isForChange: false }]);
});

test("readLastView() has nothing before the first inventory, and hides no bug", async () => {
  const failing = (error: Error) => ({
    observe: async () => {
      throw error;
    },
  });
  const early = failing(new CloudError("unreachable", "Waiting for the first inventory"));
  expect(await readLastView(early, signal)).toBeUndefined();
  await expect(readLastView(failing(new TypeError("bug")), signal)).rejects.toThrow("bug");
});
