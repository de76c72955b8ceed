import { expect, test } from "bun:test";
import { Hono } from "hono";
import type { XoUser } from "../../../../../lib/simulator/xenorchestra/auth.ts";
import {
  createRoute,
  type Env,
  runAction,
  toDone,
  toMade,
  toNeed,
} from "../../../../../lib/simulator/xenorchestra/writes/routes/route.ts";
import { Rig } from "../rig.ts";

const USER: XoUser = { id: "user", username: "u", password: "p" };
const NONE = { toNeeds: () => [] };

function createApp(rig: Rig, user: XoUser | null = USER) {
  const { backend } = rig.cloud;
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("user", user ?? undefined);
    await next();
  });
  app.post("/done", createRoute(backend, { ...NONE, handle: () => Promise.resolve(toDone()) }));
  app.post(
    "/named",
    createRoute<{ id: string }>(backend, {
      toNeeds: (_c, _work, body) => [toNeed("vm", "update:tags", { id: "a", ...Object(body) })],
      shape: { id: { type: "string" } },
      handle: (_c, _work, body) => Promise.resolve(toMade("vms", body, true)),
    }),
  );
  app.post(
    "/act",
    createRoute(backend, {
      ...NONE,
      handle: (c, work) => {
        const about = { name: "REST API: act", objectType: "VM", objectId: "a" };
        return runAction(c, work, about, () => Promise.reject(new Error("no")));
      },
    }),
  );
  return app;
}

test("createRoute() refuses a client that is not signed in", async () => {
  const rig = new Rig();
  expect((await createApp(rig).request("/done", { method: "POST" })).status).toBe(204);
  const anonymous = await createApp(rig, null).request("/done", { method: "POST" });
  expect(anonymous.status).toBe(401);
  rig.stop();
});

test("createRoute() asks for rights before it looks at the body, and toNeed() names them", async () => {
  const rig = new Rig();
  const ask = async (privileges: XoUser["privileges"], body: object) => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const reply = await createApp(rig, { ...USER, ...(privileges && { privileges }) }).request(
      "/named",
      init,
    );
    return [reply.status, await reply.json()];
  };
  const missingPrivileges = [{ objectId: "a", action: "update:tags", resource: "vm" }];
  const refused = [403, { error: "not enough privileges", data: { missingPrivileges } }];
  expect(await ask([], { tags: [] })).toEqual(refused);
  const selector = "id:/^b$/";
  const some = [{ resource: "vm", action: "update", selector }];
  expect(await ask(some, { id: "a" })).toEqual(refused);
  expect(await ask(some, { id: "b" })).toEqual([201, { id: "b" }]);
  expect(await ask(undefined, { tags: [] })).toMatchObject([422, {}]);
  rig.stop();
});

test("toMade() says what was made, and where it is", async () => {
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
