import { expect, test } from "bun:test";
import { toName, toPlace, VinoWorld } from "../../../../lib/cli/demo/vino/world.ts";
import { toVinoSpec } from "../../../../lib/cli/demo/vino/specs.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

test("VinoWorld shows only machines of Vinos, and applies a Vino as kubectl does", async () => {
  const world = await VinoWorld.start(new PacedClock(1));
  const [hostId = "", name] = [...world.hosts][0] ?? [];
  const poolId = world.site.poolIds.paris;
  world.cloud.state.addVm({ name: "vino-1b4e28ba-worker-0", poolId, hostId });
  world.applyVino("edge", toVinoSpec(1));
  world.applyVino("edge", toVinoSpec(2));
  world.annotateVino("edge", { a: "b" });
  expect(world.machines.map((vm) => [toName(vm), toPlace(vm)])).toEqual([
    ["vino-1b4e28ba-worker-0", hostId],
  ]);
  expect([name, world.hosts.size]).toEqual(["xcp-par-1", 3]);
  expect(world.findVino("edge")).toMatchObject({
    metadata: { generation: 2, annotations: { a: "b" } },
    spec: { nodes: [{}, { count: 2 }] },
  });
  await world.stop();
});
