import { expect, test } from "bun:test";
import { addInterfaceRoutes } from "../../../../../lib/simulator/xenorchestra/writes/routes/interfaces.ts";
import { Rig } from "../rig.ts";

test("addInterfaceRoutes() makes, changes and removes an interface", async () => {
  const rig = new Rig();
  const vm = await rig.make("vino-1");
  const { oam: networkId, provisioning } = rig.site.networkIds;
  expect(addInterfaceRoutes).toBeFunction();
  const made = await rig.post("/vifs", { vmId: vm.id, networkId, MAC: "02:00:00:00:00:09" });
  expect(made.status).toBe(201);
  const id = String(Object(await made.json()).id);
  expect((await rig.ask("PATCH", `/vifs/${id}`, { networkId: provisioning })).status).toBe(204);
  expect(rig.record("vifs", id)).toMatchObject({
    device: "1",
    MAC: "02:00:00:00:00:09",
    $network: provisioning,
  });
  const again = await rig.post("/vifs", { vmId: vm.id, networkId, device: "1" });
  expect([again.status, await again.text()]).toEqual([
    500,
    expect.stringContaining("DEVICE_ALREADY_EXISTS"),
  ]);
  expect((await rig.ask("DELETE", `/vifs/${id}`)).status).toBe(204);
  expect((await rig.ask("DELETE", `/vifs/${id}`)).status).toBe(404);
  expect((await rig.post("/vifs", { vmId: "nope", networkId })).status).toBe(404);
  rig.stop();
});
