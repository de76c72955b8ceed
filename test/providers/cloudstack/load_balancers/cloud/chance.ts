/**
 * Draws clouds and Services for the property test of plans.
 * @module
 */
import type { LoadBalancerSpec } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import type { PublicAddress } from "../../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import type { Random } from "../../../../support/random.ts";
import { CLUSTER, type CloudModel } from "./cloud_model.ts";
import {
  annotate,
  createCloud,
  KINDS,
  LB_NAME,
  OWNER,
  placeOf,
  REASON,
  toBackend,
  toSpec,
} from "./services.ts";

const OTHER = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
const VERSIONS = [17, 18, 21, 22, 23].map((minor) => ({ major: 4, minor, patch: 0 }));
const RANGES = [
  ["10.0.0.0/8"],
  ["192.168.0.0/16"],
  ["10.0.0.0/8", "192.168.0.0/16"],
  ["10.0.0.0/8", "203.0.113.0/24"],
  ["10.1.0.0/16"],
];
const ADDRESSES = ["192.0.2.50", "192.0.2.51", "192.0.2.52", "192.0.2.53", "192.0.2.60"];

/** A cloud, and what in it is of somebody else. */
export interface Drawn {
  readonly cloud: CloudModel;
  readonly foreign: ReadonlySet<string>;
  /** What the status shows from an earlier process. */
  readonly ingress: LoadBalancerSpec["ingress"];
}

/** Draws a cloud with things of others, and perhaps with what an earlier process left. */
export function drawCloud(random: Random): Drawn {
  const kind = random.pick(["firewall", "firewall", "tier", "tier", "tierAllow", "open"] as const);
  const cloud = createCloud(kind);
  const version = random.pick([...VERSIONS, undefined]);
  cloud.version = version;
  const place = placeOf(KINDS[kind]);
  const user = cloud.addAddress({ ip: "192.0.2.50", ...place });
  cloud.addAddress({ ip: "192.0.2.51", ...place, isStaticNat: true });
  cloud.addAddress({ ip: "192.0.2.52", ...place, isSourceNat: true });
  cloud.addAddress({ ip: "192.0.2.53", networkId: "net-2" });
  const others = cloud.addAddress({ ip: "192.0.2.60", ...place, tags: toTags(CLUSTER, OTHER) });
  const name = "a9999999989ab4cde8f0123456789abc-tcp-8443";
  cloud.addRule({ name, addressId: others.id, networkId: "net-1", publicPort: 8_443 });
  const isLeaving = random.chance(0.5);
  // A rule of one that is gone is somebody's all the same.
  if (random.chance(0.8))
    cloud.holders = random.chance(0.5) ? [{ claim: toSpec({ owner: OTHER }), isLeaving }] : [];
  if (random.chance(0.4)) drawForeign(random, cloud, user);
  if (kind === "tier") drawAcl(random, cloud);
  const foreign = new Set([
    ...cloud.addresses.keys(),
    ...cloud.rules.keys(),
    ...cloud.firewallRules.keys(),
    ...[...cloud.aclItems.values()].flat().map(({ id }) => id),
  ]);
  let ingress: LoadBalancerSpec["ingress"] = [];
  if (random.chance(0.4)) {
    const { id, ip } = drawLeftover(random, cloud, place);
    const isUsed = [...cloud.rules.values(), ...cloud.firewallRules.values()].some(
      (one) => one.addressId === id && foreign.has(one.id),
    );
    // Nothing tells it from an address that version 1.x took for the Service.
    if (!isUsed) foreign.delete(id);
    ingress = [{ ip }];
  }
  if (random.chance(0.3)) drawOwn(random, cloud, place);
  return { cloud, foreign, ingress };
}

function drawForeign(random: Random, cloud: CloudModel, { id: addressId }: PublicAddress): void {
  const networkId = "net-1";
  if (random.chance(0.5)) cloud.addRule({ name: "theirs", addressId, networkId, publicPort: 443 });
  if (cloud.networks.get("net-1")?.hasFirewall !== true) return;
  if (random.chance(0.5)) cloud.addFirewallRule({ addressId, startPort: 443, endPort: 443 });
  if (random.chance(0.3)) {
    const cidrs = random.pick([...RANGES, ["0.0.0.0/0"]]);
    cloud.addFirewallRule({ addressId, startPort: 1, endPort: 1_000, cidrs });
  }
}

function drawAcl(random: Random, cloud: CloudModel): void {
  const listId = "list-1";
  if (random.chance(0.3)) cloud.addAclItem({ listId, startPort: 22, endPort: 22, number: 2 });
  if (random.chance(0.2)) {
    cloud.addAclItem({ listId, startPort: 1, endPort: 600, number: 3, cidrs: random.pick(RANGES) });
  }
  if (random.chance(0.2))
    cloud.addAclItem({ listId, number: 4, isAllow: random.chance(0.5), reason: "theirs" });
  if (random.chance(0.5)) {
    const all = { protocol: "all", startPort: 1, endPort: 65_535 };
    cloud.addAclItem({ listId, ...all, number: random.pick([1, 10]), isAllow: false });
  }
}

/** What version 1.x of the Go provider made. */
function drawLeftover(random: Random, cloud: CloudModel, place: object): PublicAddress {
  const ip = random.pick(["192.0.2.50", "192.0.2.70"]);
  const found = [...cloud.addresses.values()].find((one) => one.ip === ip);
  const address = found ?? cloud.addAddress({ ip, ...place });
  const addressId = address.id;
  for (const port of [80, 443]) {
    const isUsed = [
      ...[...cloud.rules.values()].map((one) => [one.addressId, one.publicPort]),
      ...[...cloud.firewallRules.values()].map((one) => [one.addressId, one.startPort]),
    ].some(([id, number]) => id === addressId && number === port);
    if (isUsed) continue;
    const protocol = random.pick(["tcp", "tcp", "tcp-proxy", "udp"]);
    const name = random.chance(0.3) ? `${LB_NAME}-${port}` : `${LB_NAME}-${protocol}-${port}`;
    const cidrs =
      cloud.version?.minor === 17 ? [] : random.pick([[], ["0.0.0.0/0"], ["10.0.0.0/8"]]);
    const privatePort = random.pick([30_000 + port, 31_000]);
    const publicPort = port;
    const fields = {
      name,
      addressId,
      networkId: "net-1",
      publicPort,
      privatePort,
      protocol,
      cidrs,
    };
    const { id } = cloud.addRule(fields);
    cloud.members.get(id)?.add("vm-3");
    const packets = protocol === "udp" ? "udp" : "tcp";
    const ports = { protocol: packets, startPort: port, endPort: port };
    const isOpen = [...cloud.firewallRules.values()].some((one) => one.addressId === addressId);
    const hasFirewall = cloud.networks.get("net-1")?.hasFirewall ?? false;
    if (hasFirewall && !isOpen && random.chance(0.7))
      cloud.addFirewallRule({ addressId, ...ports });
    if (cloud.aclItems.has("list-1") && random.chance(0.5))
      cloud.addAclItem({ listId: "list-1", ...ports });
  }
  return address;
}

/** What an earlier process of ours made, perhaps not whole. */
function drawOwn(random: Random, cloud: CloudModel, place: object): void {
  const tags = toTags(CLUSTER, OWNER);
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.80", ...place, tags });
  if (random.chance(0.3)) return;
  const name = `${LB_NAME}-tcp-80`;
  cloud.addRule({
    name,
    addressId,
    networkId: "net-1",
    description: "Managed by Landfall for shop/web",
  });
  const hasFirewall = cloud.networks.get("net-1")?.hasFirewall ?? false;
  if (hasFirewall && random.chance(0.5))
    cloud.addFirewallRule({ addressId, cidrs: random.pick(RANGES) });
  if (random.chance(0.5) && cloud.aclItems.has("list-1")) {
    cloud.addAclItem({ listId: "list-1", reason: REASON, cidrs: random.pick(RANGES) });
  }
}

/** Draws what a Service asks for. */
export function drawSpec(random: Random, ingress: LoadBalancerSpec["ingress"]): LoadBalancerSpec {
  const ports = [80, 443, 53]
    .filter(() => random.chance(0.6))
    .map((port) => {
      const protocol = port === 53 ? random.pick(["TCP", "UDP"] as const) : "TCP";
      const nodePort = random.pick([30_000 + port, 31_000]);
      return {
        name: `p${port}`,
        protocol,
        port,
        nodePort,
        ...(port === 80 && { appProtocol: "http" }),
      };
    });
  const ranges = random.chance(0.4) ? { sourceRanges: random.pick(RANGES) } : {};
  const address = random.pick([...ADDRESSES, "192.0.2.11", "", "", "", ""]);
  return toSpec({
    ingress,
    ports: ports.length === 0 ? [{ protocol: "TCP", port: 80, nodePort: 30_080 }] : ports,
    ...ranges,
    ...(address !== "" && { address }),
    ...(random.chance(0.3) && { clientIpAffinity: { timeoutSeconds: 10 } }),
    annotations: drawAnnotations(random),
    backends: [1, 2, 3].filter(() => random.chance(0.7)).map((one) => toBackend(one)),
  });
}

function drawAnnotations(random: Random): Record<string, string> {
  return annotate({
    ...(random.chance(0.3) && { "proxy-protocol": "true" }),
    ...(random.chance(0.2) && { hostname: "web.example.org" }),
    ...(random.chance(0.2) && {
      "source-cidrs": random.pick(["10.0.0.0/8", "0.0.0.0/0", "192.168.0.0/16"]),
    }),
    ...(random.chance(0.3) && {
      "stickiness-method-name": random.pick(["SourceBased", "LbCookie", "AppCookie"]),
    }),
    ...(random.chance(0.3) && { "ip-associated-by-controller": "true" }),
  });
}

/** Changes by hand something that is of the Service. */
export function editByHand(random: Random, { cloud, foreign }: Drawn): void {
  for (const rule of cloud.rules.values()) {
    if (foreign.has(rule.id) || !random.chance(0.3)) continue;
    const edit = random.pick(["delete", "algorithm", "name", "members", "description"] as const);
    if (edit === "delete") cloud.removeRule(rule.id);
    else if (edit === "members") cloud.members.get(rule.id)?.clear();
    else
      cloud.rules.set(rule.id, {
        ...rule,
        [edit]: edit === "name" ? `${LB_NAME}-99` : "leastconn",
      });
  }
  for (const one of cloud.firewallRules.values()) {
    if (!foreign.has(one.id) && random.chance(0.2)) cloud.firewallRules.delete(one.id);
  }
  for (const [listId, items] of cloud.aclItems) {
    cloud.aclItems.set(
      listId,
      items.filter(({ id }) => foreign.has(id) || random.chance(0.8)),
    );
  }
}
