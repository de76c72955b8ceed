import { describe, expect, test } from "bun:test";
import type { HostOutcome } from "../../../../../lib/controllers/vino/hosts/types.ts";
import {
  decideRemovals,
  KEPT_MESSAGE,
  type RemovalInput,
} from "../../../../../lib/controllers/vino/machines/removal/decision.ts";
import type { KnownMachine } from "../../../../../lib/controllers/vino/placement/known.ts";
import { toEntry, toKnown } from "../../../../support/vino/known.ts";

const worker = (change: Partial<KnownMachine> = {}): KnownMachine =>
  toKnown("worker", 0, "h1", change);

function judge(
  machine: KnownMachine,
  state: HostOutcome["state"] | undefined,
  change: Partial<RemovalInput> = {},
): {
  removable: number;
  says: (string | undefined)[];
  contraction: string | undefined;
  isDrained: boolean;
} {
  const host = { name: "edge-worker-0", notices: [] };
  const message = { message: `BareMetalHost edge-worker-0 is ${state}` };
  const outcomes = new Map(
    state === undefined
      ? []
      : [[machine.name, { ...host, state, ...(state !== "Gone" && message) }]],
  );
  const base = { deletes: true, limit: undefined };
  const decision = decideRemovals({ surplus: [machine], outcomes, ...base, ...change });
  return {
    removable: decision.removable.length,
    says: decision.reports.map(({ entry }) => entry.message),
    contraction: decision.contraction?.kind,
    isDrained: decision.isDrained,
  };
}

describe("decideRemovals()", () => {
  test("removes a machine only when its host is gone", () => {
    expect(judge(worker(), "Gone")).toMatchObject({ removable: 1, says: [], isDrained: true });
    expect(judge(worker(), "Removing")).toMatchObject({
      removable: 0,
      says: ["BareMetalHost edge-worker-0 is Removing"],
      contraction: undefined,
      isDrained: false,
    });
  });

  test.each(["InUse", "Paused", "Moved", "Refused", "NameTaken"] as const)(
    "keeps a machine whose host is %s, and names it",
    (state) => {
      expect(judge(worker(), state)).toMatchObject({
        removable: 0,
        contraction: "inUse",
        isDrained: false,
      });
    },
  );

  test("leaves a machine in the cloud if the Vino retains, and says so", () => {
    expect(judge(worker(), "Gone", { deletes: false })).toEqual({
      removable: 0,
      says: [KEPT_MESSAGE],
      contraction: undefined,
      isDrained: true,
    });
  });

  test("looks after a machine that is not shown, also if the Vino retains", () => {
    const { machine: _gone, ...known } = worker({ entry: toEntry("worker", 0) });
    expect(judge(known, "Gone", { deletes: false }).removable).toBe(1);
  });

  test("keeps all machines without the cloud, but removes their hosts first", () => {
    const { machine: _unseen, ...known } = worker({ entry: toEntry("worker", 0) });
    const alone = { deletes: false, isWithoutCloud: true };
    expect(judge(known, "Removing", alone)).toMatchObject({ removable: 0, isDrained: false });
    expect(judge(known, "Gone", alone)).toMatchObject({
      removable: 0,
      says: [expect.stringContaining("If it exists, it stays there with its addresses")],
      isDrained: true,
    });
  });

  test("removes none while a person must confirm, except what was begun", () => {
    const limit = "too many at once";
    expect(judge(worker(), undefined, { limit })).toMatchObject({
      removable: 0,
      contraction: "fleetLimit",
    });
    expect(judge(worker({ isRemoving: true }), "Gone", { limit })).toMatchObject({ removable: 1 });
  });
});
