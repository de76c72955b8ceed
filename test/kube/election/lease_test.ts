import { describe, expect, test } from "bun:test";
import {
  findHolder,
  isReleased,
  isSameRecord,
  readDurationMs,
  readRenewMs,
  toAcquired,
  toMicroTime,
  toReleased,
  toRenewed,
} from "../../../lib/kube/election/lease.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";

const CLAIM = {
  identity: "me_1",
  durationMs: 15_000,
  nowMs: Date.UTC(2026, 10, 21, 4, 32, 41, 123),
};
const NOW = "2026-11-21T04:32:41.123000Z";
/** Parts of metadata that the type does not know. */
const MORE = { managedFields: [{ manager: "kubectl" }], finalizers: ["x/y"] };
const THEIRS: Lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: {
    name: "ccm",
    namespace: "kube-system",
    uid: "u",
    resourceVersion: "7",
    labels: { a: "b" },
    annotations: { c: "d" },
    ...MORE,
  },
  spec: {
    holderIdentity: "other_2",
    leaseDurationSeconds: 30,
    acquireTime: "2026-01-01T00:00:00.000001Z",
    renewTime: "2026-01-02T00:00:00.000001Z",
    leaseTransitions: 4,
    strategy: "OldestEmulationVersion",
    preferredHolder: "other_2",
  },
};

describe("toMicroTime()", () => {
  test.each([
    [CLAIM.nowMs, NOW],
    [0, "1970-01-01T00:00:00.000000Z"],
    [1.9, "1970-01-01T00:00:00.001000Z"],
  ])("writes %d ms with six digits", (ms, text) => {
    expect(toMicroTime(ms)).toBe(text);
  });
});

describe("toAcquired(), toRenewed() and toReleased()", () => {
  test("change the record alone; all else of the Lease goes back as it came", () => {
    const { metadata, spec } = THEIRS;
    const record = { holderIdentity: "me_1", leaseDurationSeconds: 15, renewTime: NOW };
    expect(toAcquired(THEIRS, CLAIM)).toEqual({
      ...THEIRS,
      metadata,
      spec: { ...spec, ...record, acquireTime: NOW, leaseTransitions: 5 },
    });
    expect(toRenewed(THEIRS, CLAIM)).toEqual({ ...THEIRS, metadata, spec: { ...spec, ...record } });
    const free = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: NOW, renewTime: NOW };
    expect(toReleased(THEIRS, CLAIM.nowMs)).toEqual({ ...THEIRS, spec: { ...spec, ...free } });
  });

  test("toAcquired() takes a Lease without a record", () => {
    const bare: Lease = { metadata: { name: "ccm" } };
    expect(toAcquired(bare, CLAIM).spec?.leaseTransitions).toBe(1);
  });

  test.each([
    [15_000, 15],
    [1_001, 2],
    [100, 1],
  ])("write %d ms as seconds, never fewer than they are", (durationMs, seconds) => {
    const { spec } = toRenewed(THEIRS, { ...CLAIM, durationMs });
    expect(spec?.leaseDurationSeconds).toBe(seconds);
  });
});

describe("isReleased()", () => {
  test.each([
    ["held", THEIRS, false],
    ["emptied by hand", { ...THEIRS, spec: { ...THEIRS.spec, holderIdentity: "" } }, false],
    ["given back", toReleased(THEIRS, CLAIM.nowMs), true],
    ["without a record", { metadata: THEIRS.metadata }, false],
  ] satisfies [string, Lease, boolean][])("of a Lease %s", (_what, lease, is) => {
    expect(isReleased(lease)).toBe(is);
  });
});

describe("isSameRecord()", () => {
  test.each([
    ["the same", THEIRS, true],
    ["another version with other labels", { ...THEIRS, metadata: { name: "ccm" } }, true],
    ["another time", { ...THEIRS, spec: { ...THEIRS.spec, renewTime: NOW } }, false],
    ["no record", { metadata: THEIRS.metadata }, false],
  ] satisfies [string, Lease, boolean][])("of %s", (_what, lease, isSame) => {
    expect(isSameRecord(structuredClone(THEIRS), lease)).toBe(isSame);
  });

  test("is false when nothing was seen before", () => {
    expect(isSameRecord(undefined, THEIRS)).toBe(false);
  });
});

describe("a Lease that somebody edited to rubbish", () => {
  const edit = (spec: unknown): Lease => ({ ...THEIRS, ...Object({ spec }) });

  test.each<[unknown, number]>([
    ["15", 7],
    [Number.NaN, 7],
    [Infinity, 7],
    [-3, 7],
    [0, 7],
    [null, 7],
    [2 ** 31, 7],
    [2 ** 31 - 1, (2 ** 31 - 1) * 1_000],
    [0.5, 500],
  ])("readDurationMs() of %p", (leaseDurationSeconds, ms) => {
    expect(readDurationMs(edit({ leaseDurationSeconds }), 7)).toBe(ms);
  });

  test.each<[unknown, string]>([
    [undefined, ""],
    [null, ""],
    ["text", ""],
    [[], ""],
    [{ holderIdentity: null }, ""],
    [{ holderIdentity: 5 }, "5"],
    [{ holderIdentity: {} }, "{}"],
    [{ holderIdentity: false }, "false"],
  ])("findHolder() of %j", (spec, holder) => {
    expect(findHolder(edit(spec))).toBe(holder);
    expect(isReleased(edit(spec))).toBe(false);
  });

  test.each<[unknown, number]>([
    ["3", 1],
    [-1, 1],
    [1.5, 1],
    [Infinity, 1],
    [null, 1],
    [3, 4],
  ])("toAcquired() counts on from %p as %d, and keeps what else is there", (before, after) => {
    const next = toAcquired(edit({ leaseTransitions: before, strategy: 5 }), CLAIM);
    expect<unknown>(next.spec).toMatchObject({ leaseTransitions: after, strategy: 5 });
  });

  test("nothing of a record that is none is written back", () => {
    expect(Object.keys(toRenewed(edit("text"), CLAIM).spec ?? {}).sort()).toEqual([
      "holderIdentity",
      "leaseDurationSeconds",
      "renewTime",
    ]);
  });
});

test.each<[unknown, number | undefined]>([
  ["2026-01-02T00:00:00.000001Z", Date.UTC(2026, 0, 2)],
  ["soon", undefined],
  [7, undefined],
  [undefined, undefined],
])("readRenewMs() reads %p", (renewTime, ms) => {
  const spec = { renewTime } as Lease["spec"];
  expect(readRenewMs({ metadata: { name: "a" }, ...(spec && { spec }) })).toBe(ms);
});
