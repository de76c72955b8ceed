import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
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

/** Of each line a call of the client's method with the command's name; its answer, or the error that it raised. */
const SCRIPT = `
import json, sys
from cs import CloudStack, CloudStackApiException, CloudStackException
for line in sys.stdin:
    options, command, fields = json.loads(line)
    client = CloudStack(poll_interval=0.005, **options)
    try:
        answer = {"answer": getattr(client, command)(**fields)}
    except CloudStackApiException as error:
        answer = {"code": error.response.status_code, "error": error.error}
    except CloudStackException as error:
        answer = {"raised": str(error.args[0])}
    print(json.dumps(answer), flush=True)
`;

const demo = createDemoWorld();
const vmId = demo.machines.get("worker-1")?.vmId ?? "";

interface CallOptions {
  /** @default {"post"} */
  readonly method?: "get" | "post";
  readonly secret?: string;
}

function startClient() {
  const args = [PYTHON, "-c", SCRIPT];
  const child = Bun.spawn(args, { stdin: "pipe", stdout: "pipe", env: {} });
  const lines = readLines(child.stdout);
  return {
    ask: async (question: unknown): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error("The client ended");
      return JSON.parse(value);
    },
    stop: async (): Promise<void> => {
      child.stdin.end();
      await child.exited;
    },
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}

const isSkipped = lacksPythonClient("the simulated CloudStack with a client of others");

describe.skipIf(isSkipped)("the Python client cs works on startCloudStackSimulator()", () => {
  let simulator: CloudStackSimulator;
  let client: ReturnType<typeof startClient>;
  beforeAll(() => {
    client = startClient();
  });
  afterAll(() => client.stop());
  afterEach(() => simulator.stop());

  async function start(world: World, settings: Partial<Settings> = {}): Promise<void> {
    const quick = { jobMs: 1, ...settings };
    simulator = await startCloudStackSimulator({ clock: systemClock, world, settings: quick });
  }

  function call(
    command: string,
    fields: object = {},
    { method = "post", secret = simulator.secretKey }: CallOptions = {},
  ): Promise<unknown> {
    const { url: endpoint, apiKey: key } = simulator;
    return client.ask([{ endpoint, key, secret, method }, command, fields]);
  }

  test.each(["get", "post"] as const)("it signs by %s, with an expiry", async (method) => {
    await start(demo.world, { enforcesPostAndTimestamps: true });
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
    const name = "ü 1*(x)!'/:@+&=%,;\"ß";
    expect(await call("listVirtualMachines", { name }, { method })).toEqual({ answer: {} });
    expect(simulator.requests.entries[1]?.parameters.get("name")).toBe(name);
    const tags = [{ key: "K", value: "v w" }];
    const tagged = await call("listZones", { tags }, { method });
    expect(tagged).toMatchObject({ answer: { count: 2 } });
  });

  test("it understands a refusal, and tells a proxy's page from an answer", async () => {
    await start(demo.world);
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
    simulator.faults.set({ kind: "html", status: 502 });
    expect(await call("listZones")).toMatchObject({ raised: expect.stringContaining("502") });
  });

  test.each([0, 1, 500, 501, 1_234])("it reads every page of %p machines", async (count) => {
    await start(createFleet(count).world);
    const fields = { listall: "true", details: "min", fetch_list: true };
    const reply = await call("listVirtualMachines", fields);
    const vms = typeof reply === "object" && reply !== null && "answer" in reply ? reply.answer : 0;
    expect(Array.isArray(vms) ? new Set(vms.map(({ id }) => id)).size : vms).toBe(count);
    expect(simulator.requests.count("listVirtualMachines")).toBe(
      Math.max(1, Math.ceil(count / 500)),
    );
  });

  test("it waits for a job, and sees one fail", async () => {
    await start(demo.world, { jobMs: 100 });
    const fields = { id: vmId, fetch_result: true };
    expect(await call("stopVirtualMachine", fields)).toMatchObject({
      answer: { virtualmachine: { id: vmId, state: "Stopped" } },
    });
    expect(simulator.requests.count("queryAsyncJobResult")).toBeGreaterThan(1);
    expect(await call("stopVirtualMachine", fields)).toMatchObject({ error: { errorcode: 530 } });
  });

  test("it makes a load balancer, finds it by its tags, and gives everything back", async () => {
    await start(demo.world);
    const networkid = demo.world.networks?.[0]?.id;
    const publicipid = [...simulator.state.publicIps.values()].at(4)?.id ?? "";
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
    const associate = { ipaddress: "192.0.2.14", networkid, ...done };
    expect(await call("associateIpAddress", associate)).toMatchObject({
      answer: { ipaddress: { id: publicipid, associatednetworkid: networkid } },
    });
    expect(await call("createTags", { ...tagged, ...done })).toMatchObject({
      answer: { success: true },
    });
    expect(await call("createLoadBalancerRule", { ...rule, protocol: "tcp" })).toMatchObject({
      answer: { loadbalancer: { cidrlist: cidrlist.join(" "), state: "Add" } },
    });
    const again = { ...rule, protocol: "udp" };
    expect(await call("createLoadBalancerRule", again)).toMatchObject({ code: 537 });
    const [id] = simulator.state.loadBalancerRules.keys();
    const members = { id, virtualmachineids: [vmId], ...done };
    expect(await call("assignToLoadBalancerRule", members)).toMatchObject({
      answer: { success: true },
    });
    expect(await call("listLoadBalancerRuleInstances", { id })).toMatchObject({
      answer: { loadbalancerruleinstance: [{ id: vmId }] },
    });
    const asked = { tags: tags.slice(1), listall: true };
    expect(await call("listPublicIpAddresses", asked)).toMatchObject({
      answer: { publicipaddress: [{ id: publicipid, hasrules: true, tags }] },
    });
    expect(await call("disassociateIpAddress", { id: publicipid, ...done })).toMatchObject({
      answer: { success: true },
    });
    expect(await call("listLoadBalancerRules", { listall: true })).toEqual({ answer: {} });
  });
});
