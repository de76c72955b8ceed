/**
 * Vinos in a cluster whose cloud cannot make machines.
 * @module
 */
import { expect, test } from "bun:test";
import { until } from "../../support/nodes/rig.ts";
import { HintingProvider } from "../../support/cloud/instances.ts";
import { toVinoSpec } from "../../support/vino/reconciler_rig.ts";
import { METAL, VinoStage } from "../../support/vino/stage.ts";

test("a Vino says that the cloud cannot make machines, gets no finalizer, and can be deleted", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", toVinoSpec(3));
  const message = await stage.untilCondition("edge", "Ready", "False CloudWithoutMachines");
  expect(message).toBe("The cloud test cannot make and destroy machines");
  await stage.untilCondition("edge", "MachinesReady", "False CloudWithoutMachines");
  await stage.untilQuiet();
  expect(stage.read("edge")?.metadata.finalizers ?? []).toEqual([]);
  const writes = stage.countWrites();
  stage.delete("edge");
  await until("it is gone", () => stage.read("edge") === undefined);
  expect(stage.countWrites()).toBe(writes);
});

test("a Vino that another cloud served stays, keeps its records, and says why", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  const { objects } = stage.kubernetes;
  stage.create("edge", toVinoSpec(1), { finalizers: ["vino.airshipit.org"] });
  const machine = {
    name: "vino-1-worker-0",
    role: "worker",
    index: 0,
    state: "Ready",
    record: "vm-1",
  };
  const path = { namespace: METAL, name: "edge", subresource: "status" };
  objects.patch("vinoes", path, { status: { machines: [machine] } });
  stage.delete("edge");
  await stage.untilCondition("edge", "Ready", "False UnableToDecommission");
  expect(stage.read("edge")?.status?.machines).toMatchObject([machine]);
});

test("a Vino with a wrong spec says what is wrong with that", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", { ...toVinoSpec(1), xenOrchestra: { cpus: 0 } });
  await stage.untilCondition("edge", "Ready", "False InvalidSpec");
});

test("a Vino that another program holds at its end is left alone", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", toVinoSpec(1), { finalizers: ["example.org/other"] });
  await stage.untilCondition("edge", "Ready", "False CloudWithoutMachines");
  const writes = stage.countWrites();
  stage.delete("edge");
  await stage.untilQuiet();
  expect(stage.countWrites()).toBe(writes);
});
