import { describe, expect, test } from "bun:test";
import {
  explainPossibleMove,
  STAY_MS,
  type Stay,
  Stays,
} from "../../../../lib/providers/xenorchestra/proof/stays.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

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

function tell(looks: readonly Look[], stays: Stays = new Stays(10)): Stays {
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

  test("forgets the longest gone when there are too many", () => {
    const stays = tell([{ at: 0 }, { at: 30, vms: GONE }, { at: 60, vms: {} }], new Stays(1));
    expect(stays.find("vm")).toBeUndefined();
    expect(stays.find("other")).toBeDefined();
  });
});

describe("Stays.findShownMs()", () => {
  test("knows when the last answer came that showed a pool in full", () => {
    const stays = tell([{ at: 0 }, { at: 30, answered: 33 }, { at: 60, lost: ["b"] }]);
    expect(stays.findShownMs("b")).toBe(33_000);
    expect(stays.findShownMs("a")).toBe(60_000);
  });

  test("knows nothing of a pool that none showed, and when the first inventory came", () => {
    expect(new Stays(1).firstMs).toBe(Infinity);
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
