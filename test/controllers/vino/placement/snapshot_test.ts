import { expect, test } from "bun:test";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";
import {
  takeSnapshot,
  type SnapshotResult,
} from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { toKnown, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";

function snapshot(spec: VinoSpec | undefined, view: MachinesView): SnapshotResult {
  const read = spec && readRoles(spec);
  return takeSnapshot({
    vino: { metadata: VINO_OWNER, ...(spec && { spec }) },
    owner: VINO_OWNER,
    view,
    ...(read?.isComplete && { roles: read.roles }),
    isConsumed: () => false,
    deletes: true,
  });
}

function toSpec(count: number, countPer: "Host" | "Total" = "Total"): VinoSpec {
  const xenOrchestra = { template: "debian", cpus: 2, memory: "4Gi", countPer };
  return { nodes: [{ name: "worker", count }], xenOrchestra };
}

test("takeSnapshot() finds what is wanted in the pool of the Vino", () => {
  const result = snapshot(toSpec(2), toView([toMachine("worker", 0)]));
  expect(result).toMatchObject({
    kind: "done",
    snapshot: { poolId: "pool-1", placement: { wantedCount: 2 } },
  });
});

test("takeSnapshot() without a pool says so, as a matter of the cloud", () => {
  const result = snapshot(toSpec(2), toView([], { pools: [] }));
  expect(result).toMatchObject({ kind: "refused", why: "silent" });
});

test("takeSnapshot() refuses more machines than a Vino may have", () => {
  const result = snapshot(toSpec(400, "Host"), toView([]));
  expect(result).toMatchObject({
    kind: "refused",
    why: "tooMany",
    message: expect.stringContaining("wants 1200 machines, and a Vino has at most 1000"),
  });
});

test("takeSnapshot() of a Vino that wants nothing any more needs no pool", () => {
  const result = snapshot(undefined, toView([toMachine("worker", 0)], { pools: [] }));
  if (result.kind === "refused") throw new Error(result.message);
  expect(result.snapshot.placement.surplus.map(({ name }) => name)).toEqual([
    toKnown("worker", 0).name,
  ]);
});
