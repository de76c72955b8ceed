/**
 * Load balancers through the provider, on the simulated CloudStack.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type {
  LiveServices,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import type { Provider } from "../../../../lib/cloud/provider.ts";
import { CloudStackLoadBalancers } from "../../../../lib/providers/cloudstack/load_balancers/load_balancers.ts";
import type { View } from "../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { cloudStack } from "../../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../../../lib/simulator/cloudstack/mod.ts";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../../lib/simulator/cloudstack/network_kinds.ts";
import { PacedClock } from "../../../support/paced_clock.ts";
import { toDeps } from "../fake_server.ts";
import { toClaim } from "./look_rig.ts";

const signal = new AbortController().signal;
const CLUSTER = "11111111-1111-4111-8111-111111111111";
const UID = "01234567-89ab-cdef-0123-456789abcdef";
/** Jobs are asked about after a while. */
const PACE = 20;

let kinds: ReturnType<typeof createNetworkKinds>;
let kind: NetworkKind;
let simulator: CloudStackSimulator;
let provider: Provider;
beforeEach(() => start({ kind: "isolated" }));
afterEach(() => simulator.stop());

/** Starts a provider for Nodes in one kind of network. */
async function start(options: { kind: NetworkKind; isInProject?: boolean }): Promise<void> {
  const clock = new PacedClock(PACE);
  const { isInProject = false } = options;
  ({ kind } = options);
  kinds = createNetworkKinds({ isInProject });
  simulator = await startCloudStackSimulator({ clock, world: kinds.world });
  const settings = toSettings(isInProject ? { projectId: kinds.projectId } : {});
  provider = cloudStack.create(settings, { ...toDeps(), clock });
  balancers().setClusterIds([CLUSTER]);
  await provider.listInventory(
    kinds.vms[kind].map(({ name }) => ({ name })),
    signal,
  );
}

function toSettings(over: object = {}) {
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const { settings, issues } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey, ...over }, {});
  if (settings === undefined) throw new Error(JSON.stringify(issues));
  return settings;
}

function balancers(): CloudStackLoadBalancers {
  const { loadBalancers } = provider;
  if (loadBalancers instanceof CloudStackLoadBalancers) return loadBalancers;
  throw new Error("there are no load balancers of CloudStack");
}

function observe(maxAgeMs = 60_000): Promise<View> {
  return balancers().observe({ claims: () => [toSpec()], maxAgeMs }, signal);
}

/** How many looks CloudStack saw since the last time this was called. */
function takeLooks(): number {
  const count = simulator.requests.count("listPublicIpAddresses");
  simulator.requests.reset();
  return count;
}

function toSpec(record?: string): LoadBalancerSpec {
  const backends = kinds.vms[kind].map(({ id, name, nics }) => ({
    nodeName: name,
    instanceId: id,
    internalIps: nics.flatMap(({ ipAddress }) => ipAddress ?? []),
  }));
  return {
    ...toClaim(UID, record === undefined ? {} : { record }),
    ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
    trafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    backends,
  };
}

/** A cluster with this one Service. */
function toLive(uid: string): LiveServices {
  return { uids: new Set([uid]), addresses: new Set() };
}

/** Works as the controller does, until a plan has no steps. */
async function converge(): Promise<{ steps: number; record: string | undefined }> {
  let record: string | undefined;
  const keeper = {
    save: (text: string | undefined): Promise<void> => {
      record = text;
      return Promise.resolve();
    },
  };
  for (let steps = 0; steps < 30; steps += 1) {
    const claims = () => [toSpec(record)];
    const view = await balancers().observe({ claims, maxAgeMs: 60_000 }, signal);
    const [step] = balancers().plan(view, toSpec(record)).steps;
    if (step === undefined) return { steps, record };
    await balancers().apply(step, keeper, signal);
  }
  throw new Error("there is always another step");
}

describe("CloudStackLoadBalancers", () => {
  test("comes to rest with the load balancer that a Service asks for, after one look", async () => {
    expect((await converge()).steps).toBeGreaterThan(0);
    const [rule] = simulator.state.loadBalancerRules.values();
    expect(rule).toMatchObject({ publicPort: 80, privatePort: 30_080, state: "Active" });
    expect(rule?.members.map(({ vmId }) => vmId).toSorted()).toEqual(
      kinds.vms[kind].map(({ id }) => id).toSorted(),
    );
    expect(simulator.requests.count("listFirewallRules")).toBe(1);
    expect((await converge()).steps).toBe(0);
  });

  test("lists its address as left over when the Service is gone, and not before", async () => {
    await converge();
    const view = await observe();
    const [rule] = simulator.state.loadBalancerRules.values();
    expect(balancers().listLeftovers(view, toLive(UID))).toEqual([]);
    const [leftover, ...more] = balancers().listLeftovers(view, toLive("other"));
    expect(leftover).toMatchObject({
      id: rule?.ipId,
      service: "shop/web",
      serviceUid: UID,
      rules: 1,
    });
    expect(more).toEqual([]);
  });

  test.each<[NetworkKind, "an account" | "a project"]>([
    ["isolated", "an account"],
    ["isolated", "a project"],
    ["open", "an account"],
    ["tier", "a project"],
  ])("knows what it changed as well as a new look does: network %s of %s", async (one, owner) => {
    await simulator.stop();
    await start({ kind: one, isInProject: owner === "a project" });
    expect((await converge()).steps).toBeGreaterThan(0);
    const known = await observe();
    const seen = await observe(0);
    // Only the server knows whether there are rules that a look does not show. Items are in no order.
    const toParts = (view: View): object => ({
      addresses: new Map([...view.addresses].map(([id, one]) => [id, { ...one, hasRules: 0 }])),
      rules: view.rules,
      firewallRules: view.firewallRules,
      members: view.members,
      policies: view.policies,
      aclItems: [...view.aclItems.values()].flat().toSorted((one, two) => one.number - two.number),
    });
    expect(toParts(known)).toEqual(toParts(seen));
  });

  test("does nothing while another CloudStack answers that knows nothing of the cluster", async () => {
    const { record } = await converge();
    const ingress = [{ ip: "198.51.100.10" }];
    const lists = ["listLoadBalancerRules", "listPublicIpAddresses", "listFirewallRules"];
    const command = [...lists, "listVirtualMachines"];
    const end = simulator.faults.set({ kind: "emptyList" }, { command });
    const elsewhere = await observe(0);
    const served = { ...toSpec(record), ingress };
    for (const planned of [
      balancers().plan(elsewhere, served),
      balancers().planRelease(elsewhere, served),
    ]) {
      expect(planned).toMatchObject({ steps: [], problems: [{ reason: "NotKnown" }] });
      expect(planned.ingress).toBeUndefined();
    }
    end();
    const back = await observe(0);
    expect(balancers().plan(back, served).problems).toEqual([]);
    expect(balancers().planRelease(back, served).steps).not.toEqual([]);
  });

  test("waits for the first inventory if nothing else shows which CloudStack this is", async () => {
    const deps = { ...toDeps(), clock: new PacedClock(PACE) };
    provider = cloudStack.create(toSettings(), deps);
    balancers().setClusterIds([CLUSTER]);
    await expect(observe()).rejects.toMatchObject({ kind: "unreachable" });
    await provider.listInventory([], signal);
    expect(await observe()).toMatchObject({ isOurCloud: false });
  });

  test("keeps the last look under settings that do not change what is asked", async () => {
    await observe();
    takeLooks();
    cloudStack.reconfigure?.(provider, toSettings({ region: "north" }));
    await observe();
    expect(takeLooks()).toBe(0);
  });

  test.each<[string, () => object]>([
    ["another version", () => ({ version: "4.20" })],
    ["other keys", () => toKeys("admin")],
    ["another project", () => ({ projectId: kinds.projectId })],
  ])("looks again with %s", async (_what, toMore) => {
    await observe();
    takeLooks();
    cloudStack.reconfigure?.(provider, toSettings(toMore()));
    await provider.listInventory([], signal);
    const view = await observe();
    expect(takeLooks()).toBe(1);
    expect(view).toMatchObject({ clusterIds: [CLUSTER] });
  });

  test("shows another project without what was seen in the one before", async () => {
    await converge();
    cloudStack.reconfigure?.(provider, toSettings({ projectId: kinds.projectId }));
    await provider.listInventory([], signal);
    expect(await observe()).toMatchObject({ rules: new Map(), addresses: new Map() });
  });

  test("refuses a step that was planned for another project", async () => {
    const view = await observe();
    const [step] = balancers().plan(view, toSpec()).steps;
    if (step === undefined) throw new Error("there is nothing to do");
    cloudStack.reconfigure?.(provider, toSettings({ projectId: kinds.projectId }));
    simulator.requests.reset();
    const applying = balancers().apply(step, { save: () => Promise.resolve() }, signal);
    await expect(applying).rejects.toMatchObject({ kind: "unreachable" });
    expect(simulator.requests.total).toBe(0);
  });

  test("a look is no inventory: Nodes wait for one after new settings", async () => {
    const [node] = kinds.vms[kind].map(({ name }) => ({ name }));
    const inventory = await provider.listInventory([], signal);
    await converge();
    cloudStack.reconfigure?.(provider, toSettings({ version: "4.20" }));
    await observe();
    const presence = await provider.readInstance(inventory, node ?? { name: "" }, signal);
    expect(presence).toMatchObject({ kind: "unknown", reason: "noInventory" });
  });
});

function toKeys(username: string): object {
  const found = [...simulator.state.users.values()].find((user) => user.username === username);
  return { apiKey: found?.apiKey, secretKey: found?.secretKey };
}
