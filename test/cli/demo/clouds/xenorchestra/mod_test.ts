import { expect, test } from "bun:test";
import { startXenOrchestra } from "../../../../../lib/cli/demo/clouds/xenorchestra/mod.ts";
import { systemClock } from "../../../../../lib/core/clock.ts";

test("startXenOrchestra() counts inventories, and what each request asked", async () => {
  const { cloud } = await startXenOrchestra(systemClock);
  const { XOA_URL, XOA_TOKEN } = cloud.clients.env;
  const headers = { cookie: `authenticationToken=${XOA_TOKEN}` };
  for (const path of ["pools", `pools/${crypto.randomUUID()}`, "vms"]) {
    await (await fetch(`${XOA_URL}/rest/v0/${path}`, { headers })).arrayBuffer();
  }
  expect(cloud.countPasses()).toBe(1);
  expect([...cloud.countRequests().keys()]).toEqual(["GET /pools", "GET /pools/{id}", "GET /vms"]);
  await cloud.stop();
});
