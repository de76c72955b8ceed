/**
 * A Node whose machine was made again: what each cloud's Node, page and check say.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listNodePlans } from "../../../lib/cli/check/nodes.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { findPresence } from "../../../lib/cloud/inventory/resolver.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { toIdentity } from "../../../lib/controllers/identity.ts";
import { describeNode } from "../../../lib/controllers/node_view.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { toCondition } from "../../../lib/http/page/state.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import * as cloudStackSimulator from "../../../lib/simulator/cloudstack/mod.ts";
import * as xenOrchestraSimulator from "../../../lib/simulator/xenorchestra/mod.ts";
import { toInstance, toInventory } from "../../support/cloud/instances.ts";
import { startStaticCloudOn } from "../../support/cloud/static_cloud.ts";
import { isDone, toProvider } from "../../support/nodes/node_cloud.ts";
import { toNode, toRegistration } from "../../support/nodes/nodes.ts";
import { startRig, until } from "../../support/nodes/rig.ts";
import { PACE, PacedClock } from "../../support/paced_clock.ts";

const signal = new AbortController().signal;
const UUID = "4c4c4544-0042-4810-8053-b8c04f564432";
const FOREIGN_UUID = "11111111-2222-4333-8444-555555555555";

/** A cloud with a machine of a Node. */
interface Stage {
  readonly provider: Provider;
  readonly name: string;
  readonly systemUuid: string;
  /** Removes the machine, and makes another one of that name. Returns the provider IDs of both. */
  remake(): Promise<readonly [string, string]>;
  stop(): Promise<void>;
}

async function startStatic(clock: PacedClock): Promise<Stage> {
  const toText = (id: string, uuid: string): string =>
    "refreshInterval: 5s\ninstances:\n" +
    `  - { id: ${id}, name: n1${uuid}, addresses: [{ type: InternalIP, address: 10.0.0.1 }] }\n`;
  const withUuid = `, systemUUID: ${UUID}`;
  const { provider, write, stop } = await startStaticCloudOn(clock, toText("rack1-u7", withUuid));
  return {
    provider,
    name: "n1",
    systemUuid: UUID,
    remake: async () => {
      await write(toText("rack2-u1", withUuid));
      return ["static://rack1-u7", "static://rack2-u1"];
    },
    stop,
  };
}

async function startCloudStack(clock: PacedClock): Promise<Stage> {
  const { world, machines } = cloudStackSimulator.createDemoWorld();
  const simulator = await cloudStackSimulator.startCloudStackSimulator({ clock, world });
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const parsed = cloudStack.parseConfig({ apiUrl, apiKey, secretKey, refreshInterval: "5s" }, {});
  const stopped = new AbortController();
  const shared = { clock, log: silentLogger, metrics: new MetricsRegistry(), fence: new Fence() };
  if (parsed.settings === undefined) throw new Error(JSON.stringify(parsed.issues));
  const provider = cloudStack.create(parsed.settings, { ...shared, signal: stopped.signal });
  const [machine] = machines.values();
  if (machine === undefined) throw new Error("the world has no machine");
  const { vmId, nodeName: name } = machine;
  const { accountId, zoneId, offeringId, nics } = simulator.state.vm(vmId);
  return {
    provider,
    name,
    systemUuid: vmId,
    remake: async () => {
      const options = { name, id: UUID, accountId, zoneId, offeringId, nics };
      simulator.state.expunge(vmId);
      simulator.state.addVm(options);
      return [`external-cloudstack://${vmId}`, `external-cloudstack://${UUID}`];
    },
    stop: async () => {
      stopped.abort(new Error("the test is over"));
      await simulator.stop();
    },
  };
}

async function startXenOrchestra(clock: PacedClock): Promise<Stage> {
  const { world, machines } = xenOrchestraSimulator.createDemoWorld();
  const simulator = await xenOrchestraSimulator.startXenOrchestraSimulator({ clock, world });
  const { url, token } = simulator;
  const parsed = xenOrchestra.parseConfig({ url, token, refreshInterval: "5s" }, {});
  const stopped = new AbortController();
  const shared = { clock, log: silentLogger, metrics: new MetricsRegistry(), fence: new Fence() };
  if (parsed.settings === undefined) throw new Error(JSON.stringify(parsed.issues));
  const provider = xenOrchestra.create(parsed.settings, { ...shared, signal: stopped.signal });
  const { vmId = "", systemUuid = "" } = machines.get("worker-1") ?? {};
  const vm = simulator.state.read("vms", vmId);
  const poolId = String(vm?.["$pool"]);
  return {
    provider,
    name: "worker-1",
    systemUuid,
    remake: async () => {
      simulator.state.removeVm(vmId);
      if (vm) simulator.state.put("vms", { ...vm, id: UUID, uuid: UUID });
      return [`xenorchestra://${poolId}/${vmId}`, `xenorchestra://${poolId}/${UUID}`];
    },
    stop: async () => {
      stopped.abort(new Error("the test is over"));
      await simulator.stop();
    },
  };
}

async function plan(provider: Provider, nodes: readonly Node[]) {
  const inventory = await provider.listInventory(nodes.map(toIdentity), signal);
  const acting = { hasLifecycle: true, deletion: DEFAULT_DELETION };
  return await listNodePlans(nodes, { provider, inventory, acting, selector: [] }, signal);
}

describe("a machine that was made again under the name of its Node", () => {
  test.each([
    ["CloudStack on KVM", startCloudStack, UUID],
    ["CloudStack on another hypervisor", startCloudStack, FOREIGN_UUID],
    ["an inventory file", startStatic, UUID],
    ["an inventory file, by a kubelet that reports no UUID", startStatic, ""],
    ["Xen Orchestra", startXenOrchestra, UUID],
  ])("is said on %s, with both IDs and what to do", async (_title, start, reported) => {
    const clock = new PacedClock(PACE);
    const stage = await start(clock);
    const { provider, name } = stage;
    {
      await using rig = await startRig({ provider, clock });
      const { objects } = rig.kubernetes;
      const systemUuid = reported === "" ? "" : stage.systemUuid;
      objects.createNode(toRegistration(name, { systemUuid, ready: "True" }));
      await until("it is initialised", () => isDone(rig.readNode(name)));
      const ids = await stage.remake();
      if (reported !== systemUuid) {
        objects.patchNodeStatus(name, { nodeInfo: { systemUUID: reported } });
      }
      await until("an Event says so", () => rig.listEvents(name, "ProviderIDMismatch").length > 0);
      const node = rig.readNode(name);
      if (node === undefined) throw new Error("the Node is gone");
      const said = rig.listEvents(name, "ProviderIDMismatch");
      expect(said).toMatchObject([{ type: "Warning", count: 1 }]);
      const texts = said.map(({ message }) => message ?? "");
      const [checked] = await plan(provider, [node]);
      expect(checked?.level).toBe("warning");
      texts.push(checked?.problems.join() ?? "");
      const inventory = await provider.listInventory([toIdentity(node)], signal);
      const presence = findPresence(toIdentity(node), { provider, inventory, selector: [] });
      const view = describeNode(node, presence, provider);
      texts.push(toCondition({ ...view, ready: "True", lastReconcile: null }).why);
      for (const text of texts) {
        for (const part of [...ids, "delete the Node and restart its kubelet"]) {
          expect(text).toContain(part);
        }
      }
      expect(node.spec?.providerID).toBe(ids[0]);
    }
    await stage.stop();
  });

  test.each([
    ["CloudStack", startCloudStack],
    ["an inventory file", startStatic],
    ["Xen Orchestra", startXenOrchestra],
  ])(
    "is said on %s of a Node with the ID of another cloud that comes later",
    async (_title, start) => {
      const clock = new PacedClock(PACE);
      const stage = await start(clock);
      {
        await using rig = await startRig({ provider: stage.provider, clock });
        const register = (name: string, options: Parameters<typeof toRegistration>[1]): unknown =>
          rig.kubernetes.objects.createNode(toRegistration(name, { ready: "True", ...options }));
        register("first", { systemUuid: FOREIGN_UUID });
        // From now on, the cloud is asked only for machines of Nodes, if it can be.
        const isAsked = () => rig.listEvents("first", "NodeInitializationFailed").length > 0;
        await until("the machine of the first Node was looked for", isAsked);
        const foreign = { providerId: "aws:///eu-west-1a/i-1", uninitialized: false };
        register("elsewhere", { ...foreign, systemUuid: UUID.replace("4c", "5c") });
        register(stage.name, { ...foreign, systemUuid: stage.systemUuid.toUpperCase() });
        const listSaid = () => rig.listEvents(stage.name, "ProviderIDMismatch");
        await until("an Event says so", () => listSaid().length > 0);
        expect(listSaid()).toMatchObject([
          { type: "Warning", message: expect.stringContaining("aws:///eu-west-1a/i-1") },
        ]);
        expect(rig.listEvents("elsewhere")).toEqual([]);
      }
      await stage.stop();
    },
  );

  const other = toInstance("new", { name: "N1", systemUuid: UUID });
  const namesake = toInstance("new", { name: "n1" });
  const old = toInstance("old", { name: "n1" });
  test.each<[string, object, readonly (typeof other)[], boolean]>([
    ["a machine of that name that is off", {}, [{ ...namesake, state: "stopped" }], false],
    ["a machine of another name", {}, [{ ...namesake, name: "n2" }], false],
    ["a running machine of that name", {}, [namesake], true],
    ["one whose name is the first part of the Node's", { name: "n1.example.com" }, [other], true],
    ["one of that name with another UUID than reported", { systemUuid: "77" }, [other], false],
    ["one of that name while its own runs", {}, [old, namesake], false],
    ["one of that name while its own is off", {}, [{ ...old, state: "stopped" }, namesake], true],
    [
      "its own, off and confirmed",
      { systemUuid: "old" },
      [{ ...old, state: "stopped" }, namesake],
      false,
    ],
    ["the reported one while its own runs", { systemUuid: UUID }, [old, other], true],
    [
      "the reported one, off, bytes swapped",
      { systemUuid: "44454c4c-4200-1048-8053-b8c04f564432".toUpperCase() },
      [{ ...other, state: "stopped" }],
      true,
    ],
    [
      "the reported one of another cloud's Node",
      { providerId: "aws:///i-1", systemUuid: UUID },
      [other],
      true,
    ],
    ["one of the name of another cloud's Node", { providerId: "aws:///i-1" }, [namesake], false],
    ["a Node without a provider ID", { providerId: "" }, [namesake], false],
  ])("is found or not by %s", async (_title, over, instances, isFound) => {
    const { name = "n1", ...options }: { name?: string } = over;
    const provider = toProvider();
    for (const one of instances) provider.instances.set(one.id, one);
    const usual = { providerId: "test://old", uninitialized: false, ready: "True" };
    const [checked] = await plan(provider, [toNode(name, { ...usual, ...options })]);
    expect(checked?.problems.join().includes("test://new")).toBe(isFound);
  });

  test("keeps a Node from deletion only if its kubelet reports the other machine", () => {
    const provider = toProvider();
    const find = (systemUuid: string): unknown =>
      findPresence(
        { name: "n1", providerId: "test://old", systemUuid },
        {
          provider,
          inventory: toInventory([{ ...other, id: "reported", name: "n1" }, namesake]),
          selector: [],
        },
      );
    expect(find(UUID)).toMatchObject({ kind: "unknown", reason: "ambiguous" });
    expect(find("")).toMatchObject({ kind: "unknown", reason: "notListed" });
  });
});
