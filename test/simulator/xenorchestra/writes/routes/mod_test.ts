import { expect, test } from "bun:test";
import { Hono } from "hono";
import { addWrites } from "../../../../../lib/simulator/xenorchestra/writes/routes/mod.ts";
import type { Env } from "../../../../../lib/simulator/xenorchestra/writes/routes/route.ts";
import { Rig } from "../rig.ts";

test("addWrites() refuses each change of a client that is not signed in", async () => {
  const rig = new Rig();
  const app = new Hono<Env>();
  addWrites(app, rig.cloud.backend);
  const changes = app.routes.filter(({ method }) => method !== "GET" && method !== "ALL");
  expect(changes.length).toBeGreaterThan(20);
  for (const { method, path } of changes) {
    const reply = await app.request(path.replace(/:file\{.*\}/, "a.raw"), { method });
    expect(reply.status).toBe(401);
  }
  rig.stop();
});
