import { expect, test } from "bun:test";
import { describeVino } from "../../../lib/http/vinos/replies.ts";
import { createVinoRoutes } from "../../../lib/http/page/vinos/mod.ts";
import { MIXED, toVino, toVinoSource } from "../../support/page/vino_views.ts";

const NOW = Date.parse("2026-01-02T03:05:05Z");

async function read(path: string, vinos = toVinoSource()): Promise<string> {
  const routes = createVinoRoutes(vinos, { now: () => NOW, places: [] });
  return await (await routes.request(`/debug/vinos${path}`)).text();
}

test("/debug/vinos has Vinos, hosts, machines without a Vino and address pools as JSON", async () => {
  const { vinos, hosts, machinesWithoutVino, pools } = JSON.parse(await read(""));
  expect(vinos).toMatchObject([{ name: "mixed" }, { name: "well", state: "ready" }]);
  expect(hosts).toHaveLength(4);
  expect(machinesWithoutVino).toMatchObject([{ name: "vino-0ld-worker-0", power: "running" }]);
  expect(pools).toMatchObject([{ used: 8, total: 100 }]);
});

test("/debug/vinos?format=text has a table of each", async () => {
  const text = await read("?format=text");
  expect(text).toMatch(/^tenants +mixed +failing +2 +9 +ok +60s +vino-mixed-worker-0: 2 VMs/m);
  expect(text).toMatch(/^vino-mixed-worker-3 .* CPUs 2, not 4 +CPUs change when it is off$/m);
  expect(text).toMatch(/^paris +h3 +no +0$/m);
  expect(text).toMatch(/^paris +h1 +yes +3$/m);
  expect(text).toMatch(/^vino-0ld-worker-0 +id-of-vino-0ld-worker-0 +id-h2 +running$/m);
  expect(text).toMatch(/^ippool-192-0-2-0-24 +IPv4 +8 +100$/m);
});

test("/debug/vinos says which kinds are missing, and works before the first inventory", async () => {
  const readServing = () => ({ missing: ["vinoes.airship.airshipit.org/v1"] });
  const source = { ...toVinoSource([]), readServing, readCloud: async () => undefined };
  expect(await read("?format=text", { ...source, listPools: () => [] })).toBe(
    "waiting for CustomResourceDefinition vinoes.airship.airshipit.org/v1\n" +
      "NAMESPACE  NAME  STATE  READY  WANTED  LAST  AGO  REASON\n\n" +
      "MACHINE  STATE  HOST  POWER  ADDRESS  BMH  USED-BY  DIFFERS  WAITS-FOR\n\n" +
      "POOL  HOST  ENABLED  MACHINES\n",
  );
});

test("/debug/vinos/<namespace>/<name> has one Vino, and what the cloud shows of its machines", async () => {
  const { name, machines, shown } = JSON.parse(await read("/tenants/mixed"));
  expect([name, machines.length, shown.length]).toEqual(["mixed", 8, 4]);
  const text = await read("/tenants/mixed?format=text");
  expect(text).toMatch(
    /^vino-mixed-worker-6 +Ready +h2 +stopped +192.0.2.16 +Published, available/m,
  );
  expect(text).toMatch(
    /^vino-mixed-worker-7 +Ready, not wanted +h1 .* it is used by Metal3Machine b$/m,
  );
  expect(text).toMatch(/^worker +1 +these hosts are disabled/m);
  expect(text).toMatch(/^vino-mixed-worker-3 +CPUs +4 +2$/m);
  expect(text).toMatch(/^Ready +False +MachineFailure/m);
});

test("describeVino() is empty when it is ready, else the error or the condition", () => {
  expect(describeVino(toVino("a"))).toBe("");
  expect(describeVino(MIXED)).toBe("vino-mixed-worker-0: 2 VMs have its name");
  const lastReconcile = { at: "2026-01-02T03:04:05Z", outcome: "error", error: "no answer" };
  expect(describeVino({ ...MIXED, lastReconcile })).toBe("no answer");
  expect(describeVino({ ...MIXED, conditions: [] })).toBe("");
});
