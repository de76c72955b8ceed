/**
 * A process that ends at any call of the hypervisor that its requests cause, with the provider of Xen Orchestra: the
 * next process finishes what it began, and nothing is there twice.
 * @module
 */
import { expect } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { until } from "../../support/nodes/rig.ts";
import {
  startXenOrchestraStage,
  toXenOrchestraSpec,
  type XenOrchestraStage,
} from "../../support/vino/xen_orchestra_stage.ts";
import { longTest } from "../../support/long_tests.ts";

const READY = "True ReconciliationSucceeded";
const TIMEOUT_MS = 30_000;
/** More calls than two machines from nothing to nothing cause. */
const CALLS_MAX = 200;
/** Of so many calls one is enough on a developer's machine. */
const SHARE = readExtent() === "all" ? 1 : 14;

/** Ends the process at a call, and starts another one. Calls are counted from now on. */
function cutAt(
  { stage, simulator }: XenOrchestraStage,
  call: number,
): { restarted(): Promise<void>; count(): number } {
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  simulator.cloud.hypervisor.watch(({ outcome }) => {
    if (outcome !== "sent") return;
    calls += 1;
    if (calls === call)
      stage
        .stop()
        .then(() => stage.run())
        .then(resolve, resolve);
  });
  return { restarted: () => promise, count: () => calls };
}

async function tellStory(call: number): Promise<{ calls: number }> {
  await using rig = await startXenOrchestraStage();
  const { stage } = rig;
  const before = rig.count();
  const cut = cutAt(rig, call);
  stage.create("edge", toXenOrchestraSpec(2, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  expect(rig.count()).toEqual({
    vms: before.vms + 2,
    "vm-templates": before["vm-templates"],
    // Each has two disks and a seed.
    vdis: before.vdis + 6,
  });
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1"]);
  expect(stage.listPoolOwners()).toHaveLength(2);
  stage.delete("edge");
  await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
  expect(rig.count()).toEqual(before);
  expect(stage.listHosts()).toEqual([]);
  expect(stage.listPoolOwners()).toEqual([]);
  const calls = cut.count();
  if (call <= calls) await cut.restarted();
  return { calls };
}

longTest(
  "a process that ends at a call leaves nothing that the next one does not finish",
  async () => {
    const { calls } = await tellStory(CALLS_MAX);
    expect(calls).toBeGreaterThan(20);
    expect(calls).toBeLessThan(CALLS_MAX);
    for (let call = 1; call <= calls; call += SHARE) {
      try {
        await tellStory(call);
      } catch (error) {
        throw new Error(`at call ${call} of ${calls}`, { cause: error });
      }
    }
  },
  TIMEOUT_MS * 10,
);
