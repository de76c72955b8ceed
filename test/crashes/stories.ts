/**
 * What is asked of a load balancer in the crash table, step by step.
 * @module
 */
import type { NetworkKind } from "../../lib/simulator/cloudstack/network_kinds.ts";
import { toFirewallRule } from "../../lib/simulator/cloudstack/world/firewall.ts";
import { toLoadBalancerRule } from "../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { JsonObject } from "../../lib/simulator/kubernetes/mod.ts";
import { FREE_IP, PINNED_IP, USED_IP } from "./site.ts";
import type { Stage } from "./stage.ts";

/** What people do. */
type Act = (stage: Stage) => void;

/** A story: a Service that is at rest, and a change. */
export interface Story {
  readonly name: string;
  readonly network: NetworkKind;
  /** Whether addresses are not those that Landfall chose. @default {false} */
  readonly namesAddress?: boolean;
  /** The Services before the change, brought to rest one after another without any crash. @default {none} */
  readonly before?: Act | readonly Act[];
  /** An address that must be nobody's in the end. */
  readonly frees?: string;
  /** Whether only CI tells it. @default {false} */
  readonly isOfCi?: boolean;
  /** The change. From here on every request may be the last one. */
  readonly act: Act;
}

const PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer-";
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
  return ({ objects }: Stage): void => {
    objects.create("services", {
      metadata: { ...service, annotations },
      spec: { type: "LoadBalancer", selector: { app: "web" }, ports: toPorts(ports), ...spec },
    });
  };
}

function change({ ports, spec = {}, annotations }: Wishes) {
  return ({ objects }: Stage): void => {
    objects.patch("services", WEB, {
      ...(annotations && { metadata: { annotations } }),
      spec: { ...(ports && { ports: toPorts(ports) }), ...spec },
    });
  };
}

function remove({ objects }: Stage): void {
  objects.delete("services", WEB);
}

function removeShop({ objects }: Stage): void {
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
  return (stage: Stage): void => {
    create({ ...wishes, spec: { ...wishes.spec, loadBalancerIP: ip } })(stage);
    const { state } = stage.cloud;
    const address = [...state.publicIps.values()].find((one) => one.address === ip);
    const uid = String(stage.objects.get("services", WEB)?.metadata["uid"] ?? "");
    if (address === undefined) throw new Error(`There is no address ${ip}`);
    const name = `a${uid.replaceAll("-", "")}`.slice(0, 32);
    const rule = toLoadBalancerRule({
      ip: address,
      name: `${name}-tcp-80`,
      cidrList: "0.0.0.0/0",
      vms: stage.site.vms.slice(0, 1),
    });
    state.loadBalancerRules.set(rule.id, rule);
    const firewallRule = toFirewallRule({ ip: address, startPort: 80 });
    state.firewallRules.set(firewallRule.id, firewallRule);
  };
}

const SHARING: readonly Story[] = [
  {
    name: "the Service that an address was taken for is deleted, while another one uses it",
    isOfCi: true,
    network: "isolated",
    namesAddress: true,
    before: SHARED,
    act: removeShop,
  },
  {
    name: "the last Service on an address of one that is gone is deleted",
    isOfCi: true,
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: [...SHARED, removeShop],
    act: remove,
  },
  {
    name: "the last Service on an address of one that is gone moves",
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: [...SHARED, removeShop],
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "both Services on an address are deleted at once",
    frees: FREE_IP,
    network: "isolated",
    namesAddress: true,
    before: SHARED,
    act: (stage) => {
      removeShop(stage);
      remove(stage);
    },
  },
];

/** Every story. */
export const STORIES: readonly Story[] = [
  ...SHARING,
  { name: "a Service is created", network: "isolated", act: create() },
  {
    name: "a Service with three ports is created",
    network: "isolated",
    act: create({ ports: [HTTP, HTTPS, DNS] }),
  },
  {
    name: "a Service that restricts its clients is created",
    network: "isolated",
    act: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] } }),
  },
  {
    name: "a port is added",
    network: "isolated",
    before: create(),
    act: change({ ports: [HTTP, HTTPS] }),
  },
  {
    name: "a port is removed",
    network: "isolated",
    before: create({ ports: [HTTP, HTTPS] }),
    act: change({ ports: [HTTPS] }),
  },
  {
    name: "a port gets another node port",
    network: "isolated",
    before: create(),
    act: change({ ports: [{ ...HTTP, nodePort: 30_081 }] }),
  },
  {
    name: "the clients change to others",
    network: "isolated",
    before: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } }),
    act: change({ spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] } }),
  },
  {
    name: "the clients change in part",
    network: "isolated",
    before: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "172.16.0.0/12"] } }),
    act: change({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] } }),
  },
  {
    name: "a port changes from TCP to UDP",
    network: "isolated",
    before: create({ ports: [{ ...DNS, protocol: "TCP" }] }),
    act: change({ ports: [DNS] }),
  },
  {
    name: "a Service gets the PROXY protocol",
    network: "isolated",
    before: create(),
    act: change({ annotations: { [`${PREFIX}proxy-protocol`]: "true" } }),
  },
  {
    name: "a Service gets affinity",
    network: "isolated",
    before: create(),
    act: change({ spec: { sessionAffinity: "ClientIP" } }),
  },
  {
    name: "a Service with an address of the user is created",
    network: "isolated",
    act: create({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "a Service beside other rules on an address of the user is created",
    network: "isolated",
    act: create({ spec: { loadBalancerIP: USED_IP } }),
  },
  {
    name: "a Service that names a free address is created",
    namesAddress: true,
    network: "isolated",
    act: create({ spec: { loadBalancerIP: FREE_IP } }),
  },
  {
    name: "a Service moves to an address of the user",
    network: "isolated",
    before: create(),
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  {
    name: "a Service gets a hostname",
    network: "isolated",
    before: create(),
    act: change({ annotations: { [`${PREFIX}hostname`]: "web.example.com" } }),
  },
  {
    name: "a Service gets stickiness",
    network: "isolated",
    before: create(),
    act: change({ annotations: { [`${PREFIX}stickiness-method-name`]: "SourceBased" } }),
  },
  {
    name: "a Service loses stickiness",
    network: "isolated",
    before: create({ annotations: { [`${PREFIX}stickiness-method-name`]: "SourceBased" } }),
    act: ({ objects }) => {
      const annotations = { [`${PREFIX}stickiness-method-name`]: null };
      objects.patch("services", WEB, { metadata: { annotations } });
    },
  },
  {
    name: "a Node leaves",
    network: "isolated",
    before: create({ ports: [HTTP, HTTPS] }),
    act: ({ objects, site }) => void objects.deleteNode(String(site.nodes[0]?.metadata["name"])),
  },
  {
    name: "a Node must not get traffic any more",
    network: "isolated",
    before: create(),
    act: ({ objects, site }) => {
      const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };
      objects.patchNode(String(site.nodes[1]?.metadata["name"]), { metadata: { labels } });
    },
  },
  { name: "a Service is deleted", network: "isolated", before: create(), act: remove },
  {
    name: "a Service with three ports is deleted",
    network: "isolated",
    before: create({ ports: [HTTP, HTTPS, DNS] }),
    act: remove,
  },
  {
    name: "a Service on an address of the user is deleted",
    network: "isolated",
    before: create({ spec: { loadBalancerIP: USED_IP } }),
    act: remove,
  },
  {
    name: "a Service that named a free address is deleted",
    network: "isolated",
    before: create({ spec: { loadBalancerIP: FREE_IP } }),
    act: remove,
  },
  {
    name: "a Service becomes one of type ClusterIP",
    network: "isolated",
    before: create(),
    act: change({ spec: { type: "ClusterIP" } }),
  },
  {
    name: "a Service of the Apache provider is taken over",
    network: "isolated",
    act: createWithLeftover({ ports: [HTTP, HTTPS] }, PINNED_IP),
  },
  { name: "a Service in a VPC is created", network: "tier", act: create() },
  {
    name: "a Service in a VPC gets a port and other clients",
    network: "tier",
    before: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } }),
    act: change({
      ports: [HTTP, HTTPS],
      spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] },
    }),
  },
  {
    name: "a Service in a VPC loses a port",
    network: "tier",
    before: create({ ports: [HTTP, HTTPS] }),
    act: change({ ports: [HTTPS] }),
  },
  {
    name: "a Service in a VPC moves to an address of the user",
    network: "tier",
    before: create(),
    act: change({ spec: { loadBalancerIP: PINNED_IP } }),
  },
  { name: "a Service in a VPC is deleted", network: "tier", before: create(), act: remove },
  {
    name: "a Service in a network without firewall is created",
    network: "open",
    act: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8", "172.16.0.0/12"] } }),
  },
  {
    name: "the clients of a Service in a network without firewall change",
    network: "open",
    before: create({ spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } }),
    act: change({ spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] } }),
  },
  {
    name: "a Service in a network without firewall is deleted",
    network: "open",
    before: create(),
    act: remove,
  },
];
