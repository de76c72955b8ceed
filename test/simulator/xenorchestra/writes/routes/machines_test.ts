import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addMachineRoutes } from "../../../../../lib/simulator/xenorchestra/writes/routes/machines.ts";
import { Rig } from "../rig.ts";

describe("addMachineRoutes()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const status = async (method: string, path: string, body?: unknown): Promise<number> =>
    (await rig.ask(method, path, body)).status;

  test("a machine is changed, tagged, started, stopped and deleted", async () => {
    const vm = await rig.make("vino-1");
    const path = `/vms/${vm.id}`;
    expect(addMachineRoutes).toBeFunction();
    expect(await status("PATCH", path, { nameDescription: "d", tags: ["a"] })).toBe(204);
    expect(await status("PATCH", path, {})).toBe(204);
    expect(await status("PATCH", path, { name_label: "x" })).toBe(422);
    expect(await status("PUT", `${path}/tags/${encodeURIComponent("vino:ready=1")}`)).toBe(204);
    expect(await status("DELETE", `${path}/tags/a`)).toBe(204);
    expect(vm).toMatchObject({ name_description: "d", tags: ["vino:ready=1"] });
    const hostId = rig.site.hostIds["xcp-par-2"];
    expect(await status("POST", `${path}/actions/start?sync=true`, { hostId })).toBe(204);
    expect(vm).toMatchObject({ power_state: "Running", $container: hostId });
    expect(await status("POST", `${path}/actions/hard_shutdown`)).toBe(202);
    expect(await status("DELETE", path)).toBe(204);
    expect(await status("DELETE", path)).toBe(404);
  });

  test("a template is tagged and deleted, and nothing else", async () => {
    const { blank } = rig.site.templateIds;
    expect(await status("PUT", `/vm-templates/${blank}/tags/a`)).toBe(204);
    expect(rig.record("vm-templates", blank)["tags"]).toEqual(["a"]);
    expect(await status("PATCH", `/vm-templates/${blank}`, {})).toBe(404);
    expect(await status("PATCH", `/vms/${blank}`, {})).toBe(404);
    expect(await status("DELETE", `/vms/${blank}`)).toBe(404);
    expect(await status("POST", `/vms/${blank}/actions/start`)).toBe(404);
    expect(await status("DELETE", `/vm-templates/${blank}`)).toBe(204);
  });

  test("a pool that is not there makes no machine", async () => {
    const body = { template: rig.site.templateIds.blank, name_label: "x" };
    expect(await status("POST", "/pools/nope/actions/create_vm", body)).toBe(404);
    rig.cloud.state.losePool(rig.site.poolIds.paris, { noticedAfterMs: 1_000 });
    const path = `/pools/${rig.site.poolIds.paris}/actions/create_vm?sync=true`;
    expect(await (await rig.post(path, body)).json()).toEqual({ error: "other side closed" });
    await rig.clock.advance(1_000);
    expect(await status("POST", path, body)).toBe(404);
  });
});
