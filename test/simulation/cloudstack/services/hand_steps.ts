/**
 * What people do by hand, in the cloud, to what Landfall made for Services, and with what is theirs beside it.
 * @module
 */
import {
  dropPortForwarding,
  dropRule,
  free,
} from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  applyRule,
  type LoadBalancerRule,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { toAclItem } from "../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";
import type { CloudStackWorld } from "../cloud.ts";
import type { CloudStackBalancing } from "./balancing.ts";
import { listRules, readOwner } from "./service_judge.ts";
import { RECORD } from "./wishes.ts";
import { type Step, toStep } from "../../steps/mod.ts";
import { toLoadBalancerRule, toPortForwarding } from "../../../support/cloud/cloudstack_rules.ts";

type HandStep = Step<CloudStackWorld>;
type Act<T> = (
  world: CloudStackWorld,
  balancing: CloudStackBalancing,
  what: T,
) => string | undefined;

/** A block that no Service names. */
const EVERYBODY = ["203.0.113.0/24"];
/** So many addresses do people take beside those that they have. */
const TAKEN_MAX = 2;

/** People take an address, perhaps the one that a process has just chosen. */
const take = step("address taken by people", 3, ({ random, timeline, server }, balancing) => {
  const { cloud, book, nowMs } = balancing;
  const { state, places } = cloud;
  if (balancing.taken.size >= TAKEN_MAX) return undefined;
  const ip = random.pick([...state.publicIps.values()].filter((one) => one.state === "Free"));
  // Where CloudStack forgets who took it, the record alone counts for an hour.
  const isNamed = server.services.some(
    ({ metadata }) => metadata.annotations?.[RECORD]?.includes(ip.id) ?? false,
  );
  if (isNamed && cloud.server.settings.eventsKeptMs === 0) return undefined;
  const network = [...state.networks.values()].find(
    ({ zoneId, accountId }) => zoneId === ip.zoneId && accountId !== "",
  );
  if (network === undefined) return undefined;
  const { id: networkId, vpcId } = network;
  const place = vpcId === undefined ? { networkId } : { vpcId };
  const allocatedMs = timeline.now();
  Object.assign(ip, { state: "Allocated", accountId: places.ownerId, allocatedMs, ...place });
  balancing.taken.add(ip.id);
  const { user, jobs } = cloud.server;
  jobs.start({
    command: "associateIpAddress",
    userId: toUuid("user/ops"),
    accountId: user.accountId,
    instanceType: "IpAddress",
    instanceId: ip.id,
    run: () => ({}),
  });
  book.keep("address", ip.id, nowMs);
  return ip.address;
});

/** Everything that people do there. */
export const HAND_STEPS: readonly HandStep[] = [
  ofRule("rule deleted by hand", 3, (_world, { cloud, knowledge }, rule) => {
    dropRule(cloud.state, rule.id);
    for (const life of knowledge.lives) if (rule.name.startsWith(life.lbName)) life.mayStray = true;
    return rule.name;
  }),
  ofRule("rule changed by hand", 3, ({ random }, { cloud }, rule) => {
    const how = random.pick(["algorithm", "description", "list"] as const);
    if (how === "algorithm") rule.algorithm = "leastconn";
    if (how === "description") rule.description = "changed by hand";
    if (how === "list") rule.cidrList = random.pick(["0.0.0.0/0", "10.0.0.0/8"]);
    applyRule(rule, cloud.state.stickinessPolicies);
    return `${rule.name} ${how}`;
  }),
  ofRule("backend removed by hand", 2, (_world, { cloud }, rule) => {
    if (rule.members.length === 0) return undefined;
    rule.members = rule.members.slice(1);
    applyRule(rule, cloud.state.stickinessPolicies);
    return rule.name;
  }),
  // A machine that is no Node's gets traffic.
  ofRule("backend added by hand", 1, ({ random }, { cloud }, rule) => {
    const others = [...cloud.state.vms.values()].filter(
      ({ id, isRemoved, nics }) =>
        !cloud.names.has(id) &&
        !isRemoved &&
        nics.some(({ networkId }) => networkId === rule.networkId) &&
        rule.members.every(({ vmId }) => vmId !== id),
    );
    if (others.length === 0) return undefined;
    const vm = random.pick(others);
    const ip = vm.nics.find(({ networkId }) => networkId === rule.networkId)?.ipAddress ?? "";
    rule.members = [...rule.members, { vmId: vm.id, ip, isRevoked: false }];
    applyRule(rule, cloud.state.stickinessPolicies);
    return `${rule.name} ${vm.name}`;
  }),
  ofRule("firewall rule or ACL item deleted by hand", 3, (world, balancing, rule) => {
    const { state } = balancing.cloud;
    const isOurs = ({ id }: { readonly id: string }): boolean => !balancing.book.has(id);
    const rules = [...state.firewallRules.values()].filter(
      (one) => one.ipId === rule.ipId && isOurs(one),
    );
    const items = [...state.aclItems.values()].filter(
      (one) => one.reason?.endsWith(rule.name.split("-")[0] ?? "") === true && isOurs(one),
    );
    if (rules.length + items.length === 0) return undefined;
    const { id } = world.random.pick([...rules, ...items]);
    state.removeFirewallRule(id);
    state.removeAclItem(id);
    return id;
  }),
  // A person lets more clients in.
  ofRule("port opened by hand", 2, (_world, balancing, rule) => {
    const { state } = balancing.cloud;
    const network = state.networks.get(rule.networkId);
    const ip = state.publicIps.get(rule.ipId);
    const protocol = rule.protocol === "udp" ? "udp" : "tcp";
    balancing.judge.accept(rule.publicPort);
    if (network?.services.includes("Firewall") && ip !== undefined) {
      const one = toFirewallRule({ ip, protocol, startPort: rule.publicPort, cidrs: EVERYBODY });
      state.firewallRules.set(one.id, one);
      return `${rule.name} by firewall rule ${one.id}`;
    }
    const item = [...state.aclItems.values()].find(
      ({ listId, startPort, reason }) =>
        listId === network?.aclId && startPort === rule.publicPort && reason !== undefined,
    );
    if (item === undefined) return undefined;
    item.cidrs = ["0.0.0.0/0"];
    return `${rule.name} by ACL item ${item.id}`;
  }),
  // From now on the address is theirs, as far as anybody can prove.
  ofAddress("tags of an address deleted by hand", 1, ({ server }, balancing, ip) => {
    const { state } = balancing.cloud;
    // The record of a Service proves it to be Landfall's: until it has a rule, and while a job is open.
    const records = server.services.map(({ metadata }) => metadata.annotations?.[RECORD] ?? "");
    if (records.some((text) => text.includes(ip.id))) return undefined;
    if (state.loadBalancerRules.values().every(({ ipId }) => ipId !== ip.id)) return undefined;
    state.tags.drop(ip.id);
    balancing.book.keep("address", ip.id, balancing.nowMs);
    return ip.address;
  }),
  ofAddress("address released by hand", 1, (_world, balancing, ip) => {
    if (balancing.book.isUsed(ip.id)) return undefined;
    free(balancing.cloud.state, ip);
    return ip.address;
  }),
  // People use the address, too.
  ofAddress("rule of others on an address", 4, ({ random }, balancing, ip) => {
    const { book, nowMs } = balancing;
    const { state } = balancing.cloud;
    const port = 7_000 + balancing.next();
    const network = state.networks.get(ip.networkId ?? "");
    if (network === undefined) return undefined;
    const placed = { ...ip, networkId: network.id };
    const how = random.pick(["rule", "forwarding", "firewallRule", "firewallRange"] as const);
    if (how === "rule") {
      const rule = toLoadBalancerRule({ ip: placed, name: `theirs-${port}`, publicPort: port });
      state.loadBalancerRules.set(rule.id, rule);
      book.keep("rule", rule.id, nowMs);
    } else if (how === "forwarding") {
      // The server refuses one on an address of a VPC that has load balancers.
      if (network.vpcId !== undefined) return undefined;
      const vm = [...state.vms.values()].find(({ isRemoved }) => !isRemoved);
      if (vm === undefined) return undefined;
      const one = toPortForwarding({ ip: placed, vmId: vm.id, publicPort: port });
      state.portForwardings.set(one.id, one);
      book.keep("forwarding", one.id, nowMs);
    } else {
      if (!network.services.includes("Firewall")) return undefined;
      // A range may have a port of the Service in it.
      const ports =
        how === "firewallRule" ? { startPort: port } : { startPort: 9_000, endPort: 9_000 + port };
      if (how === "firewallRange") balancing.judge.accept(9_000);
      const one = toFirewallRule({ ip: placed, ...ports, cidrs: EVERYBODY });
      state.firewallRules.set(one.id, one);
      book.keep("firewallRule", one.id, nowMs);
    }
    return `${ip.address} ${how} ${port}`;
  }),
  step("ACL item of others", 2, ({ random }, balancing) => {
    const { state } = balancing.cloud;
    const lists = [...state.aclLists.values()].filter(({ vpcId }) => vpcId !== undefined);
    if (lists.length === 0) return undefined;
    const list = random.pick(lists);
    const number = 1_000 + balancing.next();
    const item = toAclItem({ list, number, startPort: 2_000 + number });
    state.aclItems.set(item.id, item);
    balancing.book.keep("aclItem", item.id, balancing.nowMs);
    return item.id;
  }),
  // People remove what is theirs.
  step("rules of others removed", 3, ({ random }, { cloud, book }) => {
    const { state } = cloud;
    const rules = [...state.loadBalancerRules.keys()].filter((id) => book.has(id));
    const forwardings = [...state.portForwardings.keys()].filter((id) => book.has(id));
    const filters = [...state.firewallRules.keys()].filter((id) => book.has(id));
    const all = [...rules, ...forwardings, ...filters];
    if (all.length === 0) return undefined;
    const id = random.pick(all);
    book.drop(id);
    if (rules.includes(id)) dropRule(state, id);
    if (forwardings.includes(id)) dropPortForwarding(state, id);
    state.removeFirewallRule(id);
    return id;
  }),
  take,
  step("address released by people", 2, ({ random }, { cloud, book, taken }) => {
    const { state } = cloud;
    const unused = [...taken].filter((id) =>
      state.loadBalancerRules.values().every(({ ipId }) => ipId !== id),
    );
    if (unused.length === 0) return undefined;
    const id = random.pick(unused);
    taken.delete(id);
    book.drop(id);
    const ip = state.publicIps.get(id);
    if (ip) free(state, ip);
    return ip?.address;
  }),
];

/** After it, what people opened counts as known. */
function step(
  name: string,
  weight: number,
  act: (world: CloudStackWorld, balancing: CloudStackBalancing) => string | undefined,
): HandStep {
  return toStep(name, weight, (world) => {
    const { balancing } = world.cloud;
    const what = balancing && act(world, balancing);
    if (what !== undefined) balancing?.judge.accept();
    return what;
  });
}

/** What people do to a rule of a Service. */
function ofRule(name: string, weight: number, act: Act<LoadBalancerRule>): HandStep {
  return step(name, weight, (world, balancing) => {
    const { knowledge, cloud } = balancing;
    const all = knowledge.lives.flatMap((life) =>
      listRules(cloud.state.loadBalancerRules.values(), life),
    );
    return all.length === 0 ? undefined : act(world, balancing, world.random.pick(all));
  });
}

/** What people do to an address of a Service. */
function ofAddress(name: string, weight: number, act: Act<PublicIp>): HandStep {
  return step(name, weight, (world, balancing) => {
    const { state } = balancing.cloud;
    const all = [...state.publicIps.values()].filter(
      ({ id, state: how }) => how === "Allocated" && readOwner(state, id) !== undefined,
    );
    return all.length === 0 ? undefined : act(world, balancing, world.random.pick(all));
  });
}
