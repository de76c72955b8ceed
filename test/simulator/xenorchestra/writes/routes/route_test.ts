import { expect, test } from "bun:test";
import { Hono } from "hono";
import {
  type Env,
  runAction,
  toBodyHandler,
  toDone,
  toHandler,
  toMade,
} from "../../../../../lib/simulator/xenorchestra/writes/routes/route.ts";
import { Rig } from "../rig.ts";

const USER = { id: "user", username: "u", password: "p" };

function createApp(rig: Rig, user: typeof USER | null = USER) {
  const { backend } = rig.cloud;
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("user", user ?? undefined);
    await next();
  });
  app.post(
    "/done",
    toHandler(backend, () => Promise.resolve(toDone())),
  );
  app.post(
    "/named",
    toBodyHandler<{ id: string }>(backend, { id: { type: "string" } }, (_c, _work, body) =>
      Promise.resolve(toMade("vms", body, true)),
    ),
  );
  app.post(
    "/act",
    toHandler(backend, (c, work) => {
      const about = { name: "REST API: act", objectType: "VM", objectId: "a" };
      return runAction(c, work, about, () => Promise.reject(new Error("no")));
    }),
  );
  return app;
}

test("toHandler() refuses a client that is not signed in", async () => {
  const rig = new Rig();
  expect((await createApp(rig).request("/done", { method: "POST" })).status).toBe(204);
  const anonymous = await createApp(rig, null).request("/done", { method: "POST" });
  expect(anonymous.status).toBe(401);
  rig.stop();
});

test("toBodyHandler() and toMade() say what was made, and where it is", async () => {
  const rig = new Rig();
  const init = { method: "POST", body: '{"id":"a"}' };
  const reply = await createApp(rig).request("/named", init);
  expect([reply.status, reply.headers.get("location"), await reply.json()]).toEqual([
    201,
    "/rest/v0/vms/a",
    { id: "a" },
  ]);
  rig.stop();
});

test("runAction() answers with a task, or waits for the end", async () => {
  const rig = new Rig();
  const app = createApp(rig);
  const ask = async (query: string) => {
    const reply = await app.request(`/act${query}`, { method: "POST" });
    return [reply.status, await reply.text()];
  };
  expect(await ask("")).toEqual([202, expect.stringContaining("taskId")]);
  expect(await ask("?sync=true")).toEqual([500, expect.stringContaining('"no"')]);
  expect(await ask("?sync")).toEqual([422, expect.stringContaining("sync")]);
  expect(await ask("?sync=1")).toEqual([422, expect.stringContaining("sync")]);
  rig.stop();
});
