import { expect, test } from "bun:test";
import {
  dropSnapshots,
  takeSnapshot,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/snapshots.ts";
import { Rig } from "../rig.ts";

test("takeSnapshot() makes a record of its own, and dropSnapshots() removes it", async () => {
  const rig = new Rig();
  const vm = await rig.make("vino-1");
  const { id } = await takeSnapshot(rig.work(), vm, "before");
  expect(vm["snapshots"]).toEqual([id]);
  expect(rig.record("vm-snapshots", id)).toMatchObject({
    name_label: "before",
    type: "VM-snapshot",
  });
  await dropSnapshots(rig.work(), vm);
  expect(rig.list("vm-snapshots")).toEqual([]);
  rig.stop();
});
