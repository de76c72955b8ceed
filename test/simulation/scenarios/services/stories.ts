/**
 * What is asked of a load balancer in scenarios, step by step.
 * @module
 */
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { dropRule } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import { toLoadBalancerRule } from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import type { CloudStackWorld } from "../../cloudstack/cloud.ts";
import { PREFIX } from "../../cloudstack/services/wishes.ts";
import type { ServiceStory } from "./stage.ts";

/** Address of the user, with rules that are not of the cluster. */
const USED_IP = "203.0.1.20";
/** Address of the user without rules. */
const PINNED_IP = "203.0.1.21";
/** A free address. */
const FREE_IP = "198.51.1.10";
const WEB = { name: "web", namespace: "default" } as const;
const SHOP = { name: "shop", namespace: "default" } as const;

interface Port {
  readonly name: string;
  readonly port: number;
  readonly nodePort: number;
  readonly protocol?: "TCP" | "UDP";
  readonly appProtocol?: string;
}

const HTTP: Port = { name: "http", port: 80, nodePort: 30_080 };
const HTTPS: Port = { name: "https", port: 443, nodePort: 30_443 };
const DNS: Port = { name: "dns", port: 5353, nodePort: 30_053, protocol: "UDP" };

interface Wishes {
  readonly ports?: readonly Port[];
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  /** @default {WEB} */
  readonly service?: typeof WEB | typeof SHOP;
}

function create({ ports = [HTTP], spec = {}, annotations = {}, service = WEB }: Wishes = {}) {
  return ({ server: { objects } }: CloudStackWorld): void => {
    objects.create("services", {
      metadata: { ...service, annotations },
      spec: { type: "LoadBalancer", selector: { app: "web" }, ports: toPorts(ports), ...spec },
    });
  };
}

function change({ ports, spec = {}, annotations }: Wishes) {
  return ({ server: { objects }, cloud }: CloudStackWorld): void => {
    if (spec["loadBalancerIP"] !== undefined) {
      const { uid } = objects.get("services", WEB)?.metadata ?? {};
      const life = cloud.balancing?.knowledge.find(String(uid));
      if (life) life.mayMove = true;
    }
    objects.patch("services", WEB, {
      ...(annotations && { metadata: { annotations } }),
      spec: { ...(ports && { ports: toPorts(ports) }), ...spec },
    });
  };
}

function remove({ server: { objects } }: CloudStackWorld): void {
  objects.delete("services", WEB);
}

function removeShop({ server: { objects } }: CloudStackWorld): void {
  objects.delete("services", SHOP);
}

/** Landfall takes the address for the Service `shop`; then `web` names it, too. */
const SHARED = [
  create({ service: SHOP, spec: { loadBalancerIP: FREE_IP } }),
  create({ ports: [HTTPS], spec: { loadBalancerIP: FREE_IP } }),
] as const;

function toPorts(ports: readonly Port[]): JsonObject[] {
  return ports.map((port) => ({ protocol: "TCP", ...port, targetPort: 8080 }));
}

/** As the Apache provider left it: a rule that says no maker, and its firewall rule. */
function createWithLeftover(wishes: Wishes, ip: string) {
  return (world: CloudStackWorld): void => {
    create({ ...wishes, spec: { ...wishes.spec, loadBalancerIP: ip } })(world);
    const { state } = world.cloud;
    const address = [...state.publicIps.values()].find((one) => one.address === ip);
    const uid = String(world.server.objects.get("services", WEB)?.metadata["uid"] ?? "");
    if (address === undefined) throw new Error(`There is no address ${ip}`);
    const name = `a${uid.replaceAll("-", "")}`.slice(0, 32);
    const rule = toLoadBalancerRule({
      ip: address,
      name: `${name}-tcp-80`,
      cidrList: "0.0.0.0/0",
      vms: [state.vm(world.machines.get("n1") ?? "")],
    });
    state.loadBalancerRules.set(rule.id, rule);
    const firewallRule = toFirewallRule({ ip: address, startPort: 80 });
    state.firewallRules.set(firewallRule.id, firewallRule);
  };
}

const SHARING: readonly ServiceStory[] = [
  {
    name: "service-that-address-was-taken-for-is-deleted-while-another-one-uses-it",
    isOfCi: true,
    network: "isolated",
    namesAddress: true,
    before: SHARED,
    act: removeShop,
  },
  {
    name: "last-service-on-address-of-one-that-is-gone-is-deleted",
    isOfCi: true,
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: [...SHARED, removeShop],
    act: remove,
  },
  {
    name: "last-service-on-address-of-one-that-is-gone-moves",
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: [...SHARED, removeShop],
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "both-services-on-address-are-deleted-at-once",
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: SHARED,
    act: (world) => {
      removeShop(world);
      remove(world);
    },
  },
];

/** The change makes Landfall look, and it cannot make the rule again. */
function loseRule({ cloud: { state, server }, server: { objects } }: CloudStackWorld): void {
  for (const { id, name } of state.loadBalancerRules.values()) {
    if (name.endsWith("-tcp-80")) dropRule(state, id);
  }
  server.faults.set(
    { kind: "error", code: 530 },
    { command: "createLoadBalancerRule", times: 100 },
  );
  objects.patch("services", WEB, { spec: { sessionAffinity: "ClientIP" } });
}

/** Every story. */
export const STORIES: readonly ServiceStory[] = [
  ...SHARING,
  {
    name: "service-whose-rule-was-deleted-by-hand-gets-another-type-and-port",
    network: "isolated",
    namesAddress: true,
    frees: FREE_IP,
    // Only the process that had the rule knows whose its firewall rule is. Another one keeps the address and says so.
    hasCrashes: false,
    before: [create({ spec: { loadBalancerIP: FREE_IP } }), loseRule],
    act: ({ server }) => {
      const ports = toPorts([HTTPS]).map((port) => ({ ...port, nodePort: null }));
      server.objects.patch("services", WEB, { spec: { type: "ClusterIP", ports } });
    },
  },
  { name: "service-is-created", network: "isolated", act: create() },
  {
    name: "service-with-three-ports-is-created",
    isOfCi: true,
    network: "isolated",
    act: create({ ports: [HTTP, HTTPS, DNS] }),
  },
  {
    name: "service-that-restricts-its-clients-is-created",
    isOfCi: true,
    network: "isolated",
    act: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] } }),
  },
  {
    name: "port-is-added",
    network: "isolated",
    before: [create()],
    act: change({ ports: [HTTP, HTTPS] }),
  },
  {
    name: "port-is-removed",
    network: "isolated",
    before: [create({ ports: [HTTP, HTTPS] })],
    act: change({ ports: [HTTPS] }),
  },
  {
    name: "port-gets-another-node-port",
    network: "isolated",
    before: [create()],
    act: change({ ports: [{ ...HTTP, nodePort: 30_081 }] }),
  },
  {
    name: "clients-change-to-others",
    network: "isolated",
    before: [create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } })],
    act: change({ spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] } }),
  },
  {
    name: "clients-change-in-part",
    isOfCi: true,
    network: "isolated",
    before: [create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "172.16.0.0/12"] } })],
    act: change({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] } }),
  },
  {
    name: "port-changes-from-tcp-to-udp",
    network: "isolated",
    before: [create({ ports: [{ ...DNS, protocol: "TCP" }] })],
    act: change({ ports: [DNS] }),
  },
  {
    name: "service-gets-proxy-protocol",
    network: "isolated",
    before: [create()],
    act: change({ annotations: { [`${PREFIX}proxy-protocol`]: "true" } }),
  },
  {
    name: "service-gets-affinity",
    isOfCi: true,
    network: "isolated",
    before: [create()],
    act: change({ spec: { sessionAffinity: "ClientIP" } }),
  },
  {
    name: "service-with-address-of-user-is-created",
    isOfCi: true,
    network: "isolated",
    act: create({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "service-beside-other-rules-on-address-of-user-is-created",
    network: "isolated",
    act: create({ spec: { loadBalancerIP: USED_IP } }),
  },
  {
    name: "service-that-names-free-address-is-created",
    namesAddress: true,
    network: "isolated",
    act: create({ spec: { loadBalancerIP: FREE_IP } }),
  },
  {
    name: "service-moves-to-address-of-user",
    network: "isolated",
    before: [create()],
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "service-gets-hostname",
    isOfCi: true,
    network: "isolated",
    before: [create()],
    act: change({ annotations: { [`${PREFIX}hostname`]: "web.example.com" } }),
  },
  {
    name: "service-gets-stickiness",
    network: "isolated",
    before: [create()],
    act: change({ annotations: { [`${PREFIX}stickiness-method-name`]: "SourceBased" } }),
  },
  {
    name: "service-loses-stickiness",
    isOfCi: true,
    network: "isolated",
    before: [create({ annotations: { [`${PREFIX}stickiness-method-name`]: "SourceBased" } })],
    act: ({ server }) => {
      const annotations = { [`${PREFIX}stickiness-method-name`]: null };
      server.objects.patch("services", WEB, { metadata: { annotations } });
    },
  },
  {
    name: "node-leaves",
    network: "isolated",
    before: [create({ ports: [HTTP, HTTPS] })],
    act: ({ server }) => server.objects.deleteNode("n1"),
  },
  {
    name: "node-must-not-get-traffic-any-more",
    network: "isolated",
    before: [create()],
    act: ({ server }) => {
      const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };
      server.objects.patchNode("n2", { metadata: { labels } });
    },
  },
  { name: "service-is-deleted", network: "isolated", before: [create()], act: remove },
  {
    name: "service-with-three-ports-is-deleted",
    isOfCi: true,
    network: "isolated",
    before: [create({ ports: [HTTP, HTTPS, DNS] })],
    act: remove,
  },
  {
    name: "service-on-address-of-user-is-deleted",
    network: "isolated",
    before: [create({ spec: { loadBalancerIP: USED_IP } })],
    act: remove,
  },
  {
    name: "service-that-named-free-address-is-deleted",
    isOfCi: true,
    network: "isolated",
    before: [create({ spec: { loadBalancerIP: FREE_IP } })],
    act: remove,
  },
  {
    name: "service-becomes-one-of-type-clusterip",
    network: "isolated",
    before: [create()],
    act: change({ spec: { type: "ClusterIP" } }),
  },
  {
    name: "service-of-apache-provider-is-taken-over",
    network: "isolated",
    act: createWithLeftover({ ports: [HTTP, HTTPS] }, PINNED_IP),
  },
  { name: "service-in-vpc-is-created", network: "tier", act: create() },
  {
    name: "service-in-vpc-gets-port-and-other-clients",
    network: "tier",
    before: [create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } })],
    act: change({
      ports: [HTTP, HTTPS],
      spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] },
    }),
  },
  {
    name: "service-in-vpc-loses-port",
    isOfCi: true,
    network: "tier",
    before: [create({ ports: [HTTP, HTTPS] })],
    act: change({ ports: [HTTPS] }),
  },
  {
    name: "service-in-vpc-moves-to-address-of-user",
    isOfCi: true,
    network: "tier",
    before: [create()],
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  { name: "service-in-vpc-is-deleted", network: "tier", before: [create()], act: remove },
  {
    name: "service-in-network-without-firewall-is-created",
    network: "open",
    act: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "172.16.0.0/12"] } }),
  },
  {
    name: "clients-of-service-in-network-without-firewall-change",
    network: "open",
    before: [create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } })],
    act: change({ spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] } }),
  },
  {
    name: "service-in-network-without-firewall-is-deleted",
    isOfCi: true,
    network: "open",
    before: [create()],
    act: remove,
  },
];
