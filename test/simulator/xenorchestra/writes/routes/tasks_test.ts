import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addTaskRoutes } from "../../../../../lib/simulator/xenorchestra/writes/routes/tasks.ts";
import { Rig } from "../rig.ts";

describe("addTaskRoutes()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const start = async () => {
    const { poolIds, templateIds } = rig.site;
    const body = { template: templateIds.debian, name_label: "vino-1" };
    const reply = await rig.post(`/pools/${poolIds.paris}/actions/create_vm`, body);
    return String(Object(await reply.json()).taskId);
  };

  test("a read that waits ends with the task, and one that does not shows it pending", async () => {
    rig.cloud.hypervisor.operationMs = 1_000;
    const id = await start();
    expect(await (await rig.get(`/tasks/${id}`)).json()).toMatchObject({ status: "pending" });
    const waited = rig.get(`/tasks/${id}?wait=true`).then((reply) => reply.json());
    await rig.clock.advance(10_000);
    expect(await waited).toMatchObject({ status: "success", result: { id: expect.any(String) } });
    expect((await rig.get(`/tasks/${id}?wait`)).status).toBe(422);
  });

  test("an abort is taken and ignored", async () => {
    rig.cloud.hypervisor.operationMs = 1_000;
    const id = await start();
    expect((await rig.post(`/tasks/${id}/actions/abort`)).status).toBe(204);
    expect((await rig.post("/tasks/nope/actions/abort")).status).toBe(404);
    await rig.clock.advance(10_000);
    expect(await (await rig.get(`/tasks/${id}`)).json()).toMatchObject({ status: "success" });
    expect(addTaskRoutes).toBeFunction();
  });

  test("a task is interrupted by a restart, without an end", async () => {
    rig.cloud.hypervisor.operationMs = 1_000;
    const id = await start();
    rig.cloud.kill();
    await rig.clock.advance(10_000);
    rig.cloud.start();
    const task = Object(await (await rig.get(`/tasks/${id}`)).json());
    expect(task).toMatchObject({
      status: "interrupted",
      properties: { args: { name_label: "vino-1" } },
    });
    expect(task).not.toHaveProperty("end");
  });

  test("a filter finds it by the name that was asked for", async () => {
    const id = await start();
    const filter = encodeURIComponent("properties:args:name_label:/^vino-1$/");
    const found = await (await rig.get(`/tasks?filter=${filter}&fields=id,status`)).json();
    expect(found).toMatchObject([{ id }]);
  });
});
