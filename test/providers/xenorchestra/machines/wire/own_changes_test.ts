import { beforeEach, describe, expect, test } from "bun:test";
import type { RawVdi } from "../../../../../lib/providers/xenorchestra/machines/wire/objects.ts";
import {
  type Effect,
  OwnChanges,
  toChanged,
  toGone,
  withoutText,
  withText,
} from "../../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";

const disk = { id: "d", size: 1, name_label: "seed", $VBDs: [] };
const addLink: Effect<RawVdi> = toChanged((one) => ({ ...one, $VBDs: withText(one.$VBDs, "l") }));

describe("OwnChanges", () => {
  let clock: ManualClock;
  let own: OwnChanges;
  beforeEach(() => {
    clock = new ManualClock();
    own = new OwnChanges(clock);
  });

  test("shows what was made, changed and deleted, in a list and alone", () => {
    own.note("vdis", "d", (one) => one ?? disk);
    own.note("vdis", "old", toGone);
    const old = { ...disk, id: "old" };
    expect(own.addTo("vdis", [old], own.now())).toEqual([disk]);
    expect(own.addToOne("vdis", "old", old, own.now())).toBeUndefined();
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toEqual({ ...disk, $VBDs: ["l"] });
    expect(own.addTo("vms", [], own.now())).toEqual([]);
  });

  test("trusts reads again as soon as one shows it", () => {
    own.note("vdis", "d", addLink);
    const shown = { ...disk, $VBDs: ["l"] };
    expect(own.addToOne("vdis", "d", shown, own.now())).toEqual(shown);
    expect(own.addToOne("vdis", "d", disk, own.now())).toEqual(disk);
  });

  test("trusts no read that began before the answer", async () => {
    const beganMs = own.now();
    await clock.advance(5);
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", { ...disk, $VBDs: ["l"] }, beganMs)).toBeDefined();
    expect(own.addToOne("vdis", "d", disk, own.now())).toMatchObject({ $VBDs: ["l"] });
  });

  test("trusts reads again after ten seconds", async () => {
    own.note("vdis", "d", addLink);
    await clock.advance(9_999);
    expect(own.addToOne("vdis", "d", disk, own.now())).toMatchObject({ $VBDs: ["l"] });
    await clock.advance(1);
    expect(own.addToOne("vdis", "d", disk, own.now())).toEqual(disk);
  });

  test("makes nothing of a change of what is not there", () => {
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toBeUndefined();
  });
});

test("withText() and withoutText() change nothing more the second time", () => {
  expect(withText(withText(null, "a"), "a")).toEqual(["a"]);
  expect(withoutText(withoutText(["a", "b"], "a"), "a")).toEqual(["b"]);
  expect(withoutText(undefined, "a")).toEqual([]);
});
