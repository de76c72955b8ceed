/**
 * A CloudStack that damages its answers, cuts off a job, refuses what one port needs, or whose network people change:
 * nothing of others changes, other Services go on, and all is right again afterwards.
 * @module
 */
import fc from "fast-check";
import { expect, test, describe } from "bun:test";
import { ANNOTATIONS } from "../../../lib/providers/cloudstack/load_balancers/words.ts";
import { tries } from "../../support/extent.ts";
import { isPolluted } from "../../support/net/hostile.ts";
import { applyDamage, type Damage, damage } from "../damage.ts";
import { withText } from "../mishap.ts";
import { OddStage } from "./stage.ts";
import { free } from "../../../lib/simulator/cloudstack/world/addresses.ts";
import type { Network } from "../../../lib/simulator/cloudstack/world/records.ts";
import {
  type AclList,
  DEFAULT_ALLOW,
  DEFAULT_DENY,
  toAclItem,
} from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toAclList } from "../../support/cloud/cloudstack_rules.ts";

const ODD = "odd";
const ANY = fc.constantFrom(
  "listPublicIpAddresses",
  "listLoadBalancerRules",
  "listFirewallRules",
  "listLoadBalancerRuleInstances",
  "listLBStickinessPolicies",
  "associateIpAddress",
  "createTags",
  "createLoadBalancerRule",
  "createFirewallRule",
  "assignToLoadBalancerRule",
  "queryAsyncJobResult",
  "deleteFirewallRule",
  "deleteLoadBalancerRule",
  "disassociateIpAddress",
  "listNetworks",
  "listVirtualMachines",
  "listAsyncJobs",
  "listUsers",
  "listNetworkACLs",
  "createNetworkACL",
  "deleteNetworkACL",
  "createLBStickinessPolicy",
  "deleteTags",
);
const NETWORK = fc.constantFrom("isolated" as const, "tier" as const, "open" as const);
const TIMES = fc.integer({ min: 1, max: 4 });
const SOURCES = { loadBalancerSourceRanges: ["10.0.0.0/8"] };

/** Damages the next answers to a command. */
function spoil(odd: OddStage, wanted: string, { one, times }: { one: Damage; times: number }) {
  let left = times;
  odd.stage.bend = async (command, reply) => {
    if (command !== wanted || left === 0) return reply;
    left -= 1;
    return withText(reply, JSON.stringify(applyDamage(await reply.json(), one).value));
  };
}

test("damaged answers destroy nothing of others, and leave nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(NETWORK, ANY, damage, TIMES, async (network, command, one, times) => {
      await using odd = new OddStage(network);
      await odd.stage.clock.advance(5_000);
      spoil(odd, command, { one, times });
      odd.create(ODD, {
        annotations: { [ANNOTATIONS.stickinessMethod]: "SourceBased" },
        spec: SOURCES,
      });
      await odd.stage.clock.advance(20_000);
      odd.checkForeign();
      odd.listSaid();
      odd.stage.bend = undefined;
      await odd.until("it has no address", () => odd.readAddress(ODD) !== undefined);
      await odd.until("it has two addresses", () => odd.listOwned().length === 1);
      for (const { sources } of odd.listOpenings()) {
        expect(sources).toEqual(SOURCES.loadBalancerSourceRanges);
      }
      odd.checkForeign();
      spoil(odd, command, { one, times });
      odd.stage.objects.delete("services", { name: ODD, namespace: "default" });
      await odd.stage.clock.advance(20_000);
      odd.checkForeign();
      odd.stage.bend = undefined;
      await odd.until("it stays", () => odd.find(ODD) === undefined);
      await odd.until("its address stays", () => odd.listOwned().length === 0);
      odd.checkNothingLeft();
    }),
    tries(8),
  );
  expect(isPolluted()).toBe(false);
});

/** Longer than CloudStack may carry out the request, and the longest pause after that. */
const CUT_OFF_MS = 800_000;

test("the Service waits, says from when on to release the address, and goes on after that", async () => {
  await using odd = new OddStage();
  const { clock, cloud } = odd.stage;
  cloud.faults.set({ kind: "cutOffJob" }, { command: "associateIpAddress", times: 1 });
  odd.create("odd");
  await clock.advance(CUT_OFF_MS);
  const [ip, ...others] = [...cloud.state.publicIps.values()].filter(
    ({ state }) => state === "Allocating",
  );
  if (ip === undefined) throw new Error("No address is being taken");
  expect(others).toEqual([]);
  expect(odd.readAddress("odd")).toBeUndefined();
  const said = odd.listSaid().find((one) => one.startsWith("AddressNotUsable")) ?? "";
  expect(said).toContain(`public IP ${ip.address} is being taken for this Service`);
  const [, untilText = ""] = /after (\S+Z),/.exec(said) ?? [];
  expect(Date.parse(untilText)).toBeLessThan(clock.now());
  expect(said).toContain(`cmk disassociate ipaddress id=${ip.id}`);
  free(cloud.state, ip);
  await clock.advance(RETRY_MS);
  expect(odd.readAddress("odd")).toBeDefined();
});

const PORTS = [80, 443].map((port) => ({
  name: `p${port}`,
  port,
  nodePort: 30_000 + port,
  protocol: "TCP",
  targetPort: 8_080,
}));

test("a firewall rule that is refused for ever holds up neither other ports nor any backends", async () => {
  await using odd = new OddStage();
  const { stage } = odd;
  odd.create("odd", { spec: { ports: PORTS } });
  await odd.until("it has no address", () => odd.readAddress("odd") !== undefined);
  const refusal = { kind: "error", code: 530, text: "the router says no" } as const;
  const command = "createFirewallRule";
  const ends = [stage.cloud.faults.set(refusal, { command, value: "80" })];
  odd.change("odd", { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } });
  const [first] = stage.site.nodes;
  const name = String(first?.metadata?.["name"]);
  stage.objects.delete("nodes", { name });
  await stage.clock.advance(60_000);
  const [, https] = odd
    .listOpenings()
    .toSorted((a, b) => Number.parseInt(a.ports) - Number.parseInt(b.ports));
  expect(https).toMatchObject({ ports: "443-443", sources: ["10.0.0.0/8"] });
  expect(listBackends(odd)).toEqual([
    [80, 2],
    [443, 2],
  ]);
  expect(odd.listSaid().join()).toContain("the router says no");
  for (const end of ends) end();
  const isRestricted = (): boolean =>
    odd.listOpenings().every(({ sources }) => sources.join() === "10.0.0.0/8");
  await odd.until("it stays open", isRestricted);
  ends.push(stage.cloud.faults.set(refusal, { command: "deleteFirewallRule", times: 3 }));
  await odd.checkBeside();
  await odd.remove("odd");
  odd.checkNothingLeft();
});

/** How many backends each port has. */
function listBackends({ stage }: OddStage): readonly (readonly [number, number])[] {
  return [...stage.cloud.state.loadBalancerRules.values()]
    .filter(({ publicPort }) => PORTS.some(({ port }) => port === publicPort))
    .map(({ publicPort, members }) => [publicPort, members.length] as const)
    .toSorted(([one], [other]) => one - other);
}

const PASS_MS = 660_000;
/** Longer than a new Service needs. */
const MADE_MS = 20_000;
/** Longer than the first look after the start takes to be over, and than a change is new. */
const LATER_MS = 120_000;
/** The longest pause of a Service that waits, and what its first step takes. */
const RETRY_MS = 70_000;

/** Another port than the one of the Service that is there already. */
const HTTPS = { spec: { ports: [{ port: 443, nodePort: 30_443, protocol: "TCP" }] } };

/** A tier, its list, and a Service that has been at rest for a while. */
async function startTier(odd: OddStage): Promise<{ tier: Network; list: AclList }> {
  const { clock, cloud, site } = odd.stage;
  odd.create("first");
  await odd.until("it has no address", () => odd.readAddress("first") !== undefined);
  await clock.advance(LATER_MS);
  const tier = cloud.state.networks.get(site.networkId);
  const list = cloud.state.aclLists.get(tier?.aclId ?? "");
  if (tier === undefined || list === undefined) throw new Error("There is no tier");
  return { tier, list };
}

test("a full pass lets clients in by the new list, and removes the item from the old one", async () => {
  await using odd = new OddStage("tier");
  const { clock, cloud } = odd.stage;
  const { state } = cloud;
  const { tier } = await startTier(odd);
  const listUses = (): string[] =>
    [...state.aclItems.values()].filter(({ reason }) => reason).map(({ listId }) => listId);
  const vpc = state.vpcs.get(tier.vpcId ?? "");
  if (vpc === undefined) throw new Error("There is no VPC");
  expect(listUses()).toEqual([tier.aclId ?? ""]);
  const list = toAclList("other", vpc);
  const deny = toAclItem({ list, number: 100, protocol: "all", action: "Deny" });
  state.aclLists.set(list.id, list);
  state.aclItems.set(deny.id, deny);
  tier.aclId = list.id;
  await clock.advance(PASS_MS);
  expect(listUses()).toEqual([list.id]);
});

describe("a Service that is made right after people changed the ACL", () => {
  test("waits, and gets no address, where the list lets nothing in now", async () => {
    await using odd = new OddStage("tier");
    const { tier } = await startTier(odd);
    tier.aclId = DEFAULT_DENY.id;
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(MADE_MS);
    expect(odd.readAddress("odd")).toBeUndefined();
    expect(odd.listSaid().join("\n")).toStartWith("NetworkNotUsable: ");
  });

  test("goes on within its retry where the list lets everything in now", async () => {
    await using odd = new OddStage("tier");
    const { tier } = await startTier(odd);
    tier.aclId = DEFAULT_DENY.id;
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(LATER_MS);
    expect(odd.readAddress("odd")).toBeUndefined();
    tier.aclId = DEFAULT_ALLOW.id;
    await odd.stage.clock.advance(RETRY_MS);
    expect(odd.readAddress("odd")).toBeDefined();
  });

  test("has its items before an item that refuses", async () => {
    await using odd = new OddStage("tier");
    const { list } = await startTier(odd);
    const { state } = odd.stage.cloud;
    const deny = toAclItem({ list, number: 50, protocol: "all", action: "Deny" });
    state.aclItems.set(deny.id, deny);
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(MADE_MS);
    expect(odd.readAddress("odd")).toBeDefined();
    const items = [...state.aclItems.values()].filter(({ startPort }) => startPort === 443);
    expect(items.map(({ number }) => number < 50)).toEqual([true]);
  });
});
