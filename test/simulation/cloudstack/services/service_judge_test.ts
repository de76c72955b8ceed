import { describe, expect, test } from "bun:test";
import { dropRule, free } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  applyRule,
  toLoadBalancerRule,
  toPortForwarding,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { listUntrue } from "../../judges/calm.ts";
import { settle, SETTINGS } from "../../world/settled.ts";
import { CloudStackWorld } from "../cloud.ts";
import { type CloudStackBalancing, drawSite } from "./balancing.ts";
import { listRules } from "./service_judge.ts";
import { FINALIZER } from "./wishes.ts";

const SEED = findSeed();
const WEB = { name: "web", namespace: "default" } as const;
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;

/** One whose networks have a firewall, and whose machines are in one of them. */
function findSeed(): number {
  for (let seed = 1; ; seed += 1) {
    const site = drawSite(seed);
    if (site?.kind === "isolated" && site.isInOneZone) return seed;
  }
}

interface Scene extends AsyncDisposable {
  readonly world: CloudStackWorld;
  readonly balancing: CloudStackBalancing;
}

/** A Service at rest whose clients are in one block. */
async function start(): Promise<Scene> {
  const world = new CloudStackWorld(SEED, () => SETTINGS);
  const { balancing } = world.cloud;
  if (balancing === undefined) throw new Error("There are no load balancers");
  world.said = { ...world.said, leavesAddresses: false };
  world.server.objects.create("services", {
    metadata: WEB,
    spec: {
      type: "LoadBalancer",
      ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }],
      loadBalancerSourceRanges: ["10.0.0.0/8"],
    },
  });
  await settle(world, ["n1", "n2"], 60_000);
  return { world, balancing, [Symbol.asyncDispose]: () => world.leave() };
}

function toRule({ cloud, knowledge }: CloudStackBalancing) {
  const life = knowledge.lives.find(({ name }) => name === WEB.name);
  const [rule] = life ? listRules(cloud.state.loadBalancerRules.values(), life) : [];
  if (rule === undefined) throw new Error("The Service has no rule");
  return rule;
}

function toAddress(balancing: CloudStackBalancing): PublicIp {
  const ip = balancing.cloud.state.publicIps.get(toRule(balancing).ipId);
  if (ip === undefined) throw new Error("The Service has no address");
  return ip;
}

function findOther({ cloud, book }: CloudStackBalancing): PublicIp {
  const ip = [...cloud.state.publicIps.values()].find(
    ({ id, isSourceNat, networkId }) =>
      book.has(id) && !isSourceNat && !book.isUsed(id) && networkId !== undefined,
  );
  if (ip === undefined) throw new Error("People have no address");
  return ip;
}

describe("judges of load balancers", () => {
  test("they have nothing to say of a Service at rest", async () => {
    await using scene = await start();

    expect(listUntrue(scene.world)).toEqual([]);
    expect(scene.world.invariants.violations).toEqual([]);
  });

  test("they see that something of people is changed or gone", async () => {
    await using scene = await start();
    const { balancing } = scene;
    const { state } = balancing.cloud;
    const shop = state.loadBalancerRules.values().find(({ id }) => balancing.book.has(id));
    if (shop === undefined) throw new Error("People have no rule");
    shop.algorithm = "source";
    expect(balancing.listBroken().join()).toContain(`rule ${shop.id} of somebody else is`);
    dropRule(state, shop.id);
    expect(balancing.listBroken().join()).toContain(`rule ${shop.id} of somebody else is gone`);
    const other = findOther(balancing);
    state.tags.add({
      key: "landfall.dev/service-uid",
      value: "x",
      resourceType: "PublicIpAddress",
      resourceId: other.id,
      accountId: other.accountId ?? "",
    });
    expect(balancing.listBroken().join()).toContain(`address ${other.id} of somebody else is`);
  });

  test("they see that more clients get in than the Service asks for", async () => {
    await using scene = await start();
    const { balancing } = scene;
    const { state } = balancing.cloud;
    const everybody = toFirewallRule({ ip: toAddress(balancing), startPort: 80 });
    state.firewallRules.set(everybody.id, everybody);

    expect(balancing.listBroken().join()).toContain("open wider than it asks");
  });

  test("they let people open a port by hand, and then it must be closed again", async () => {
    await using scene = await start();
    const { balancing, world } = scene;
    const { state } = balancing.cloud;
    const everybody = toFirewallRule({ ip: toAddress(balancing), startPort: 80 });
    state.firewallRules.set(everybody.id, everybody);
    balancing.judge.accept();

    expect(balancing.listBroken()).toEqual([]);
    expect(listUntrue(world).join()).toContain("has clients");
    await world.timeline.advance(90_000);
    expect(listUntrue(world)).toEqual([]);
  });

  test("they see traffic of one Service on two addresses", async () => {
    await using scene = await start();
    const { balancing } = scene;
    const { state } = balancing.cloud;
    const rule = toRule(balancing);
    const vms = rule.members.flatMap(({ vmId }) => state.vms.get(vmId) ?? []);
    const twin = toLoadBalancerRule({ ip: findOther(balancing), name: rule.name, vms });
    state.loadBalancerRules.set(twin.id, twin);
    applyRule(twin, state.stickinessPolicies);

    expect(balancing.listBroken().join()).toContain("has traffic on two addresses");
  });

  test("they see a change of the cloud by a process that does not lead", async () => {
    await using scene = await start();
    const { invariants, server } = scene.world;
    invariants.checkAsked("b1", new Request("http://b1.memory/client/api", { method: "POST" }));

    expect(invariants.violations.join()).toContain(`while ${server.holder} holds the Lease`);
  });

  test("they see a write of a Service by a process that does not lead", async () => {
    await using scene = await start();
    const { invariants, replicas, server } = scene.world;
    const process = replicas[0]?.current?.process;
    if (process === undefined) throw new Error("No process runs");
    server.objects.patch("leases", LEASE, { spec: { holderIdentity: "somebody" } });
    const path = "/api/v1/namespaces/default/services/web/status";
    invariants.checkSent(process, { method: "PATCH", path, headers: {}, body: "{}" });

    expect(invariants.violations.join()).toContain("while somebody holds the Lease");
  });

  test("they see that a backend, a rule, an address or its tags are missing or left", async () => {
    await using scene = await start();
    const { balancing, world } = scene;
    const { state } = balancing.cloud;
    const rule = toRule(balancing);
    rule.members = rule.members.slice(1);
    expect(listUntrue(world).join()).toContain("has members");
    applyRule(rule, state.stickinessPolicies);
    rule.algorithm = "leastconn";
    expect(listUntrue(world).join()).toContain("has algorithm leastconn instead of roundrobin");
    state.tags.drop(rule.ipId);
    expect(listUntrue(world).join()).toContain("has an address without tags");
    dropRule(state, rule.id);
    expect(listUntrue(world).join()).toContain("has no rule");
    expect(listUntrue(world).join()).toContain("is nobody's");
  });

  test("they see what is left of a Service that is gone", async () => {
    await using scene = await start();
    const { balancing, world } = scene;
    for (const replica of world.replicas) replica.kill();
    const { address } = toAddress(balancing);
    world.server.objects.patch("services", WEB, { metadata: { finalizers: [] } });
    world.server.objects.delete("services", WEB);

    const left = listUntrue(world).join();
    expect(left).toContain(`leaves address ${address}`);
    expect(left).toContain("leaves rule");
  });

  test("they see that a finalizer stays", async () => {
    await using scene = await start();
    const { world } = scene;
    for (const replica of world.replicas) replica.kill();
    world.server.objects.delete("services", WEB);
    expect(
      world.server.services.find(({ metadata }) => metadata.name === "web")?.metadata,
    ).toMatchObject({ finalizers: [FINALIZER] });

    expect(listUntrue(world).join()).toContain("keeps its finalizer");
  });

  test.each([
    { when: "before", isTold: true },
    { when: "after", isTold: false },
  ])(
    "they see that what people had on an address goes with it, if they had it $when the last look",
    async ({ when, isTold }) => {
      await using scene = await start();
      const { balancing } = scene;
      const { state } = balancing.cloud;
      const ip = toAddress(balancing);
      const vmId = toRule(balancing).members[0]?.vmId ?? "";
      const theirs = toPortForwarding({ ip, vmId, publicPort: 7_000 });
      const asked = new URLSearchParams({ id: ip.id });
      const put = (): void => {
        state.portForwardings.set(theirs.id, theirs);
        balancing.book.keep("forwarding", theirs.id, balancing.nowMs);
      };
      if (when === "before") put();
      await scene.world.timeline.advance(1);
      balancing.judge.noteAsked("a1", "listPublicIpAddresses", asked);
      await scene.world.timeline.advance(1);
      if (when === "after") put();
      balancing.judge.noteAsked("a1", "disassociateIpAddress", asked);
      free(state, ip);

      expect(balancing.listBroken().some((one) => one.includes("is gone"))).toBe(isTold);
    },
  );
});
