/**
 * What clients of management controllers cost Xen Orchestra: Ironic asks about each machine once a minute.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { VinoManagement } from "../../../../lib/controllers/vino/redfish/management.ts";
import type { ManagedMachine } from "../../../../lib/controllers/vino/redfish/secret_cache.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../../lib/http/redfish/metrics.ts";
import { createRedfishService } from "../../../../lib/http/redfish/service.ts";
import { Rig } from "../../../providers/xenorchestra/machines/rig.ts";
import { loginOf, SecretsDouble } from "../../../support/vino/management_rig.ts";

const SYSTEMS = "/redfish/v1/Systems";
const COUNT = 3;
const { signal } = new AbortController();

let rig: Rig;
let ids: readonly string[];
let service: ReturnType<typeof createRedfishService>;

beforeEach(async () => {
  rig = await Rig.start();
  const { clock, fence } = rig;
  const secrets = new SecretsDouble();
  const machines: ManagedMachine[] = [];
  const vino = { name: "edge", uid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" };
  for (let index = 0; index < COUNT; index += 1) {
    const interfaces = [
      { name: "oam", network: "oam", mac: `02:00:00:00:01:0${index}` },
      { name: "pxe", network: "provisioning", mac: `02:00:00:00:02:0${index}` },
    ];
    const spec = rig.spec({ index, isStarted: false, interfaces });
    await rig.make(spec);
    const { id } = rig.vm(spec);
    secrets.set(id, loginOf(id));
    const name = `vino-1b4e28ba-worker-${index}`;
    machines.push({ id, name, namespace: "metal", secretName: id, overrideName: `${id}-o`, vino });
  }
  ids = machines.map(({ id }) => id);
  await rig.refresh();
  const management = new VinoManagement({
    listMachines: () => machines,
    power: rig.machines.power,
    client: secrets,
    fence,
    clock,
    log: silentLogger,
    warn: () => {},
  });
  const metrics = createRedfishMetrics(new MetricsRegistry());
  service = createRedfishService({ management, metrics, clock, log: silentLogger, signal });
  rig.simulator.requests.reset();
});
afterEach(() => rig.stop());

async function get(path: string, id = ids[0] ?? ""): Promise<Readonly<Record<string, unknown>>> {
  const { username, password } = loginOf(id);
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  const request = new Request(`https://bmc${path}`, {
    headers: { authorization: `Basic ${basic}` },
  });
  const response = await service.fetch(request, { address: "192.0.2.1" });
  expect(response.status).toBe(200);
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

describe("requests to Xen Orchestra", () => {
  test("are as many as the machines for a poll of all, and each tells the power of now", async () => {
    const poll = async (): Promise<unknown[]> =>
      await Promise.all(ids.map(async (id) => (await get(`${SYSTEMS}/${id}`, id))["PowerState"]));
    expect(await poll()).toEqual(["Off", "Off", "Off"]);
    expect(rig.simulator.requests.total).toBe(COUNT);
    // No inventory was taken meanwhile.
    rig.simulator.state.setPower(ids[1] ?? "", "Running", rig.site.hostIds["xcp-par-1"]);
    expect(await poll()).toEqual(["Off", "On", "Off"]);
    expect(rig.simulator.requests.total).toBe(2 * COUNT);
  });

  test.each<[string, string, Readonly<Record<string, number>>]>([
    ["all systems", "", {}],
    ["a system", "/ID", { "GET /vms/{id}": 1 }],
    ["the list of its processors", "/ID/Processors", {}],
    ["its processor", "/ID/Processors/CPU", { "GET /vms/{id}": 1 }],
    ["the list of its interfaces", "/ID/EthernetInterfaces", { "GET /vifs": 1 }],
    ["one of its interfaces", "/ID/EthernetInterfaces/1", { "GET /vifs": 1 }],
  ])("are at most one for %s", async (_what, path, wanted) => {
    await get(`${SYSTEMS}${path.replace("ID", ids[0] ?? "")}`);
    expect(Object.fromEntries(rig.simulator.requests.byRoute)).toEqual({ ...wanted });
  });
});
