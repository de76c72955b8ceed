import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld,
  createFleet,
  startCloudStackSimulator,
  type CloudStackSimulator,
  type World,
} from "../../../lib/simulator/cloudstack/mod.ts";
import type { Settings } from "../../../lib/simulator/cloudstack/settings.ts";
import { lacksPythonClient, PYTHON } from "../../support/cloud/python_client.ts";

const run = promisify(execFile);

/** Calls the client's methods that have the commands' names; of each the answer, or the error that it raised. */
const SCRIPT = `
import json, sys
from cs import CloudStack, CloudStackApiException, CloudStackException
endpoint, key, secret, method, calls = sys.argv[1:]
client = CloudStack(endpoint=endpoint, key=key, secret=secret, method=method, poll_interval=0.05)
answers = []
for command, fields in json.loads(calls):
    try:
        answers.append({"answer": getattr(client, command)(**fields)})
    except CloudStackApiException as error:
        answers.append({"code": error.response.status_code, "error": error.error})
    except CloudStackException as error:
        answers.append({"raised": str(error.args[0])})
print(json.dumps(answers))
`;

const demo = createDemoWorld();
const vmId = demo.machines.get("worker-1")?.vmId ?? "";

const isSkipped = lacksPythonClient("the simulated CloudStack with a client of others");

describe.skipIf(isSkipped)("the Python client cs works on startCloudStackSimulator()", () => {
  let simulator: CloudStackSimulator;
  beforeEach(() => start(demo.world));
  afterEach(() => simulator.stop());

  async function start(world: World, settings: Partial<Settings> = {}): Promise<void> {
    simulator = await startCloudStackSimulator({ clock: systemClock, world, settings });
  }

  async function restart(world: World, settings: Partial<Settings> = {}): Promise<void> {
    await simulator.stop();
    await start(world, settings);
  }

  interface CallOptions {
    readonly method?: string;
    readonly secret?: string;
  }

  /** Calls methods in one process of the client, one after the other. */
  async function callAll(
    calls: readonly (readonly [command: string, fields: object])[],
    { method = "get", secret = simulator.secretKey }: CallOptions = {},
  ): Promise<unknown[]> {
    const { url, apiKey } = simulator;
    const args = ["-c", SCRIPT, url, apiKey, secret, method, JSON.stringify(calls)];
    const { stdout } = await run(PYTHON, args, { timeout: 20_000, env: {} });
    const answers: unknown = JSON.parse(stdout);
    return Array.isArray(answers) ? answers : [];
  }

  async function call(
    command: string,
    fields: object = {},
    options: CallOptions = {},
  ): Promise<unknown> {
    return (await callAll([[command, fields]], options))[0];
  }

  test.each(["get", "post"])("it signs by %s, with an expiry", async (method) => {
    await restart(demo.world, { enforcesPostAndTimestamps: true });
    const fields = { name: "worker-1", details: ["min", "nics", "servoff"], listall: "true" };
    expect(await call("listVirtualMachines", fields, { method })).toEqual({
      answer: {
        count: 1,
        virtualmachine: [
          expect.objectContaining({ id: vmId, serviceofferingname: "Small Instance" }),
        ],
      },
    });
    expect(simulator.requests.entries[0]?.parameters.get("signatureversion")).toBe("3");
  });

  test("it signs names with every kind of character", async () => {
    const name = "ü 1*(x)!'/:@+&=%,;\"ß";
    expect(await call("listVirtualMachines", { name })).toEqual({ answer: {} });
    expect(simulator.requests.entries[0]?.parameters.get("name")).toBe(name);
    const tags = [{ key: "K", value: "v w" }];
    expect(await call("listZones", { tags })).toMatchObject({ answer: { count: 2 } });
  });

  test("it is refused with a wrong secret, and understands the error", async () => {
    expect(await call("listZones", {}, { secret: "wrong" })).toEqual({
      code: 401,
      error: {
        uuidList: [],
        errorcode: 401,
        errortext: "unable to verify user credentials and/or request signature",
      },
    });
    expect(await call("listVirtualMachines", { id: "nope" })).toMatchObject({
      code: 431,
      error: { errorcode: 431, cserrorcode: 9999 },
    });
    expect(await call("nonsense")).toMatchObject({ code: 401 });
  });

  test.each([0, 1, 500, 501, 1_234])("it reads every page of %p machines", async (count) => {
    await restart(createFleet(count).world);
    const fields = { listall: "true", details: "min", fetch_list: true };
    const reply = await call("listVirtualMachines", fields);
    const vms = typeof reply === "object" && reply !== null && "answer" in reply ? reply.answer : 0;
    expect(Array.isArray(vms) ? new Set(vms.map(({ id }) => id)).size : vms).toBe(count);
    expect(simulator.requests.count("listVirtualMachines")).toBe(
      Math.max(1, Math.ceil(count / 500)),
    );
  });

  test("it waits for a job, and sees one fail", async () => {
    const post = { method: "post" };
    const fields = { id: vmId, fetch_result: true };
    expect(await call("stopVirtualMachine", fields, post)).toMatchObject({
      answer: { virtualmachine: { id: vmId, state: "Stopped" } },
    });
    expect(simulator.requests.count("queryAsyncJobResult")).toBeGreaterThan(1);
    expect(await call("stopVirtualMachine", fields, post)).toMatchObject({
      error: { errorcode: 530 },
    });
  });

  test("it makes a load balancer, finds it by its tags, and gives everything back", async () => {
    const networkid = demo.world.networks?.[0]?.id;
    const publicipid = [...simulator.state.publicIps.values()].at(4)?.id ?? "";
    simulator.settings.jobMs = 1;
    const post = { method: "post" };
    const done = { fetch_result: true };
    const tags = [
      { key: "landfall.dev/cluster", value: "c 1" },
      { key: "landfall.dev/service-uid", value: "u" },
    ];
    const cidrlist = ["10.0.0.0/8", "192.0.2.1/32"];
    const rule = {
      ...done,
      publicipid,
      networkid,
      cidrlist,
      algorithm: "source",
      name: "web",
      privateport: 30_080,
      publicport: 80,
      openfirewall: false,
    };
    const tagged = { resourceids: [publicipid], resourcetype: "PublicIpAddress", tags };
    const made = await callAll(
      [
        ["associateIpAddress", { ipaddress: "192.0.2.14", networkid, ...done }],
        ["createTags", { ...tagged, ...done }],
        ["createLoadBalancerRule", { ...rule, protocol: "tcp" }],
        ["createLoadBalancerRule", { ...rule, protocol: "udp" }],
      ],
      post,
    );
    expect(made).toMatchObject([
      { answer: { ipaddress: { id: publicipid, associatednetworkid: networkid } } },
      { answer: { success: true } },
      { answer: { loadbalancer: { cidrlist: cidrlist.join(" "), state: "Add" } } },
      { code: 537 },
    ]);
    const [id] = simulator.state.loadBalancerRules.keys();
    const members = { id, virtualmachineids: [vmId], ...done };
    const rest = await callAll(
      [
        ["assignToLoadBalancerRule", members],
        ["assignToLoadBalancerRule", members],
        ["listLoadBalancerRuleInstances", { id }],
        ["listPublicIpAddresses", { tags: tags.slice(1), listall: true }],
        ["disassociateIpAddress", { id: publicipid, ...done }],
        ["listLoadBalancerRules", { listall: true }],
      ],
      post,
    );
    const errortext = expect.stringContaining("is already mapped to load balancer");
    expect(rest).toMatchObject([
      { answer: { success: true } },
      { error: { errortext } },
      { answer: { loadbalancerruleinstance: [{ id: vmId }] } },
      { answer: { publicipaddress: [{ id: publicipid, hasrules: true, tags }] } },
      { answer: { success: true } },
      { answer: {} },
    ]);
  });

  test("it tells a proxy's page from an answer", async () => {
    simulator.faults.set({ kind: "html", status: 502 });
    expect(await call("listZones")).toMatchObject({ raised: expect.stringContaining("502") });
  });
});
