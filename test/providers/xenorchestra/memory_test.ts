import { beforeEach, describe, expect, test } from "bun:test";
import {
  explainPossibleMove,
  Memory,
  type Stay,
  STAY_MS,
  Stays,
} from "../../../lib/providers/xenorchestra/memory.ts";
import type { Vm } from "../../../lib/providers/xenorchestra/client.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import type { Instance } from "../../../lib/cloud/instance.ts";

/** An inventory at a second: the pools of VMs by ID, the pools that are lost, and the VMs on their way. */
interface Look {
  readonly at: number;
  readonly vms?: Readonly<Record<string, string>>;
  readonly lost?: readonly string[];
  readonly moving?: readonly string[];
  readonly answered?: number;
  readonly asked?: readonly string[];
}

const HERE = { vm: "a", other: "a" };
const GONE = { other: "a" };

function tell(looks: readonly Look[], stays: Stays = new Stays()): Stays {
  for (const look of looks) {
    const { at, vms = HERE, lost = [], moving = [], answered = at } = look;
    const { asked = ["vm", "other"] } = look;
    const entries = Object.entries(vms).map(
      ([id, region]) => [id, toInstance(id, { region })] as const,
    );
    const pools = ["a", "b"].map((id) => [id, { complete: !lost.includes(id) }] as const);
    stays.note({
      observedAtMs: at * 1_000,
      answeredMs: answered * 1_000,
      instances: new Map(entries),
      coverage: new Map<string, { complete: boolean }>(pools),
      undecodable: new Map(),
      lookedFor: new Set(asked),
      migrating: new Set(moving),
    });
  }
  return stays;
}

describe("Stays.find()", () => {
  test("knows the last inventories in a row that listed a VM in its pool", () => {
    const stays = tell([{ at: 0 }, { at: 30 }, { at: 60 }]);
    expect(stays.find("vm")).toBeUndefined();
    tell(
      [
        { at: 90, vms: GONE },
        { at: 120, vms: GONE },
      ],
      stays,
    );
    const stay = { sinceMs: 0, untilMs: 60_000, isMoving: false };
    expect(stays.find("vm")).toEqual(stay);
    expect(stays.find("other")).toBeUndefined();
  });

  test("forgets it once no Node asks for the VM", () => {
    const stays = tell([{ at: 0 }, { at: 30, vms: GONE }]);
    expect(stays.find("vm")).toBeDefined();
    expect(tell([{ at: 60, vms: GONE, asked: ["other"] }], stays).find("vm")).toBeUndefined();
  });

  test("forgets it when the VM is back", () => {
    const looks = [{ at: 0 }, { at: 30, vms: GONE }, { at: 60 }];
    expect(tell(looks).find("vm")).toBeUndefined();
  });

  const anew: readonly (readonly [what: string, looks: readonly Look[], sinceS: number])[] = [
    ["came", [{ at: 0, vms: GONE }, { at: 30 }, { at: 60 }], 30],
    ["was in another pool", [{ at: 0, vms: { vm: "b", other: "a" } }, { at: 30 }, { at: 60 }], 30],
    ["was being migrated", [{ at: 0 }, { at: 30, moving: ["vm"] }, { at: 60 }], 30],
    ["was in a pool that was lost", [{ at: 0 }, { at: 30, lost: ["a"] }, { at: 60 }], 60],
  ];
  test.each(anew)("counts from when a VM %s", (_what, looks, sinceS) => {
    const stay = tell([...looks, { at: 90, vms: GONE }]).find("vm");
    expect(stay).toMatchObject({ sinceMs: sinceS * 1_000, untilMs: 60_000 });
  });

  test("counts from the start after there was no inventory, for every VM", () => {
    const stays = tell([{ at: 0 }, { at: 30 }]);
    stays.noteFailure();
    tell([{ at: 60 }, { at: 90, vms: {} }], stays);
    expect([stays.find("vm"), stays.find("other")]).toMatchObject([
      { sinceMs: 60_000 },
      { sinceMs: 60_000 },
    ]);
  });

  test("knows nothing of what happened between a stay and an absence that nobody saw begin", () => {
    const stays = tell([{ at: 0 }, { at: 30 }]);
    stays.noteFailure();
    tell([{ at: 60, vms: GONE }], stays);
    expect(stays.find("vm")).toMatchObject({ sinceMs: 30_000, untilMs: 30_000 });
    const lost = tell([{ at: 0 }, { at: 30 }, { at: 60, lost: ["a"], vms: {} }]);
    expect(lost.find("vm")).toMatchObject({ sinceMs: 30_000, untilMs: 30_000 });
  });

  test("says whether the VM was on its way when it was seen last", () => {
    const listed = tell([{ at: 0 }, { at: 30, moving: ["vm"] }, { at: 60, vms: GONE }]);
    expect(listed.find("vm")).toMatchObject({ isMoving: true, sinceMs: 30_000, untilMs: 30_000 });
    const read = tell([{ at: 0 }, { at: 30 }]);
    read.noteRead("vm", { poolId: "a", isMoving: true, atMs: 45_000 });
    tell([{ at: 60, vms: GONE }], read);
    expect(read.find("vm")).toMatchObject({ isMoving: true });
  });

  test("takes a VM that was read by itself in another pool for no stay", () => {
    const stays = tell([{ at: 0 }, { at: 30 }]);
    stays.noteRead("vm", { poolId: "b", isMoving: false, atMs: 45_000 });
    tell([{ at: 60, vms: GONE }], stays);
    expect(stays.find("vm")?.sinceMs).toBeGreaterThan(30_000);
    stays.forget("vm");
    tell([{ at: 90, vms: GONE }], stays);
    expect(stays.find("vm")).toBeUndefined();
  });

  test("knows nothing of VMs that the inventory was not asked for", () => {
    const stays = tell([{ at: 0, vms: { ...HERE, foreign: "a" } }]);
    tell([{ at: 30 }], stays);
    expect(stays.find("foreign")).toBeUndefined();
  });
});

describe("Stays.findShownMs()", () => {
  test("knows when the last answer came that showed a pool in full", () => {
    const stays = tell([{ at: 0 }, { at: 30, answered: 33 }, { at: 60, lost: ["b"] }]);
    expect(stays.findShownMs("b")).toBe(33_000);
    expect(stays.findShownMs("a")).toBe(60_000);
  });

  test("knows nothing of a pool that none showed, and when the first inventory came", () => {
    expect(new Stays().firstMs).toBe(Infinity);
    const stays = tell([{ at: 10, answered: 12 }, { at: 30 }]);
    expect([stays.findShownMs("z"), stays.firstMs]).toEqual([undefined, 12_000]);
  });
});

describe("explainPossibleMove()", () => {
  const STAY: Stay = { sinceMs: 0, untilMs: 1_000_000, isMoving: false };
  const { untilMs } = STAY;

  test.each<[string, Stay | undefined, number, string | undefined]>([
    ["went on for long enough after", STAY, untilMs - STAY_MS, undefined],
    ["went on for too short a time after", STAY, untilMs - STAY_MS + 1, "2m30s"],
    [
      "was long enough itself",
      { ...STAY, sinceMs: untilMs - STAY_MS },
      untilMs - STAY_MS,
      undefined,
    ],
    ["was too short itself", { ...STAY, sinceMs: untilMs - STAY_MS + 1 }, 0, "without a break"],
    ["ended while it was on its way", { ...STAY, isMoving: true }, 0, "migrating"],
    ["is not known", undefined, 0, "Landfall did not see when it left"],
    ["is of a time before anything", STAY, Infinity, "2m30s"],
  ])("a stay that %s", (_title, stay, shownMs, expected) => {
    const doubt = explainPossibleMove(stay, shownMs);
    if (expected === undefined) expect(doubt).toBeUndefined();
    else expect(doubt).toContain(expected);
  });
});

function toVm(hostId: string, state: Instance["state"] = "running"): Instance {
  return toInstance("vm", { state, region: "pool", details: { hostId } });
}

function toList(...vms: readonly Instance[]): ReadonlyMap<string, Instance> {
  return new Map(vms.map((vm) => [vm.id, vm]));
}

describe("Memory.runs", () => {
  const HALTED = toList(toVm("", "stopped"));
  let runs: Memory["runs"];
  const note = (instances: ReadonlyMap<string, Instance>, ...lookedFor: readonly string[]): void =>
    runs.noteList({ instances, lookedFor: new Set(lookedFor) });
  beforeEach(() => {
    ({ runs } = new Memory());
    runs.follow();
  });

  test("remembers where a VM ran when it was listed running last, however long it is off or gone", () => {
    note(HALTED, "vm");
    expect(runs.find("vm")).toBeUndefined();
    note(toList(toVm("a")), "vm");
    for (const list of [HALTED, toList(), HALTED]) {
      note(list, "vm");
      expect(runs.find("vm")).toEqual({ poolId: "pool", hostId: "a" });
    }
  });

  test("believes the newest of lists and reads, also when a list shows what the one before did", () => {
    const list = toList(toVm("a"));
    note(list, "vm");
    runs.noteRead(toVm("b"));
    expect(runs.find("vm")?.hostId).toBe("b");
    note(list, "vm");
    expect(runs.find("vm")?.hostId).toBe("a");
    runs.noteRead(toVm("c"));
    note(HALTED, "vm");
    expect(runs.find("vm")?.hostId).toBe("c");
  });

  test("forgets a VM once two lists in a row found no Node that may be its own", () => {
    note(toList(toVm("a")), "vm");
    note(HALTED);
    expect(runs.find("vm")?.hostId).toBe("a");
    note(HALTED);
    note(HALTED, "vm");
    expect(runs.find("vm")).toBeUndefined();
  });
});

test("Memory.migrations takes a list that is the same again for more than what was shown in between", () => {
  const { migrations } = new Memory();
  const toVm = (id: string, ...operations: readonly string[]): Vm => {
    return { id, $pool: "p", current_operations: { ...operations } };
  };
  migrations.note([toVm("a"), toVm("b", "migrate_send")], 0);
  // "c" is in no list: only here it was shown.
  migrations.noteSome([toVm("a", "migrate_send"), toVm("b"), toVm("c", "migrate_send")], 5);
  migrations.noteUnchanged(10, new Set(["a", "b"]));
  expect(["a", "b", "c"].map((id) => migrations.isMoving(id, 11))).toEqual([false, true, true]);
  expect(["a", "d"].map((id) => migrations.wasMigrated(id, 11))).toEqual([true, false]);
  migrations.note([], 20);
  expect(["a", "b", "c"].map((id) => migrations.isMoving(id, 20))).toEqual([false, true, true]);
});
