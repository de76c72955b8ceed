/**
 * A simulated CloudStack that has a load balancer for the Service `default/web`, without requests.
 * @module
 */
import { requireMachine } from "../../../lib/cli/demo/story/stage.ts";
import { TAG_KEYS } from "../../../lib/providers/cloudstack/load_balancers/words.ts";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import { toFirewallRule } from "../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  type LoadBalancerRule,
  toLoadBalancerRule,
} from "../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { type PublicIp, toPublicIp } from "../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";

/** What the load balancer has. */
export interface WebCloudOptions {
  readonly ports: readonly number[];
  /** Names of the Nodes behind each port. */
  readonly nodes: readonly string[];
  /** Of the clients that may come in. @default {"203.0.113.0/24"} */
  readonly source?: string;
  /** @default {"198.51.100.10"} */
  readonly address?: string;
}

/** A cloud with a load balancer, and its parts. */
export interface WebCloud {
  readonly state: CloudStackState;
  readonly ip: PublicIp;
  readonly rules: readonly LoadBalancerRule[];
}

/** The world of the demo with all its machines, and the load balancer. */
export function createWebCloud(options: WebCloudOptions): WebCloud {
  const { world, late } = createDemoWorld();
  const state = new CloudStackState(world);
  state.addVm(late.options);
  return { state, ...addBalancer(state, options) };
}

/** Adds a load balancer for `default/web` in the zone lyon. */
export function addBalancer(
  state: CloudStackState,
  options: WebCloudOptions,
): Pick<WebCloud, "ip" | "rules"> {
  const { ports, nodes, source = "203.0.113.0/24", address = "198.51.100.10" } = options;
  const { accountIds, zoneIds, ...world } = createDemoWorld();
  const cloud = { machines: world.machines, late: world.late.machine };
  const network = [...state.networks.values()].find(({ name }) => name === "k8s-lyon");
  if (network === undefined) throw new Error("the demo has no network k8s-lyon");
  const accountId = accountIds.acme;
  const ip = { ...toPublicIp(address, zoneIds.lyon, accountId), networkId: network.id };
  state.publicIps.set(ip.id, ip);
  const tag = { resourceType: "PublicIpAddress", resourceId: ip.id, accountId };
  state.tags.add({ ...tag, key: TAG_KEYS.service, value: "default/web" });
  const vms = nodes.map((name) => state.vm(requireMachine(cloud, name).vmId));
  const rules = ports.map((publicPort) =>
    toLoadBalancerRule({ ip, name: `a-tcp-${publicPort}`, publicPort, vms }),
  );
  for (const rule of rules) {
    state.loadBalancerRules.set(rule.id, rule);
    const door = toFirewallRule({ ip, startPort: rule.publicPort, cidrs: [source] });
    state.firewallRules.set(door.id, door);
  }
  return { ip, rules };
}
