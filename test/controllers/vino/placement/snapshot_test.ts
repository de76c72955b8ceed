import { expect, test } from "bun:test";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";
import {
  takeSnapshot,
  type SnapshotResult,
} from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { toView, VINO_OWNER } from "../../../support/vino/known.ts";

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
