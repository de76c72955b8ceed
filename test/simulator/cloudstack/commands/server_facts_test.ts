import { describe, expect, test } from "bun:test";
import { listNames } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("commands about the server", () => {
  const rig = useCloudStack();

  test("listCapabilities names version, limits and what the caller may see", async () => {
    rig.simulator.settings.throttling = { max: 25, intervalMs: 1_000 };
    rig.simulator.settings.version = "4.19.0.0-SNAPSHOT";
    expect((await rig.ask("listCapabilities")).body["capability"]).toMatchObject({
      cloudstackversion: "4.19.0.0-SNAPSHOT",
      apilimitmax: 25,
      apilimitinterval: 1,
      allowuserviewdestroyedvm: false,
      // As real servers write it.
      supportELB: "false",
    });
    const admin = await rig.ask("listCapabilities", {}, { username: "admin" });
    expect(admin.body["capability"]).toMatchObject({ allowuserviewdestroyedvm: true });
  });

  test("listApis describes a command that the role allows, and no other one", async () => {
    const name = "createTags";
    rig.simulator.user.role = { name: "landfall", commands: ["listApis", name] };
    const { body } = await rig.ask("listApis", { name });
    expect(body).toMatchObject({ count: 1, api: [{ name }] });
    const refused = await rig.ask("listApis", { name: "listZones" });
    expect(refused.body["errorcode"]).toBe(530);
  });

  test("listProjects lists those of the caller, by name or ID", async () => {
    const names = async (fields: Record<string, string>, username = "kubeadmin") =>
      listNames(await rig.ask("listProjects", fields, { username }), "project");
    expect(await names({})).toEqual(["platform"]);
    expect(await names({ name: "Platform" })).toEqual(["platform"]);
    expect(await names({ name: "plat" })).toEqual([]);
    expect(await names({ keyword: "plat" })).toEqual(["platform"]);
    expect(await names({ id: rig.story.projectId })).toEqual(["platform"]);
    expect(await names({}, "ops")).toEqual([]);
    expect(await names({}, "admin")).toEqual([]);
    expect(await names({ listall: "true" }, "admin")).toEqual(["platform"]);
    const project = rig.simulator.state.projects.get(rig.story.projectId);
    if (project !== undefined) project.state = "Suspended";
    expect(await names({ state: "Active" })).toEqual([]);
  });
});
