/**
 * Plans which VMs are behind a rule. Pure.
 * @module
 */
import type {
  LoadBalancerBackend,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import { NODE_SELECTOR } from "../../../cloud/node_selector.ts";
import { quote } from "../../../core/text/printable.ts";
import { toNotice, toWaiting } from "./words.ts";
import { inPart, type Current, toPart, toStep } from "./current.ts";
import type { Step } from "./steps.ts";
import type { BackendVm, Network, Rule, Observation } from "./observation.ts";

const NAMES_MAX = 5;

/**
 * Plans the VMs of one rule. Adds before it removes.
 *
 * A VM that should no longer be there is removed only if it is gone, if it is that of a Node which must get no traffic,
 * or if the VM of every Node is known: otherwise it may be that of a Node which is not known now.
 */
export function planBackends(
  current: Current,
  rule: Rule,
  backends: readonly LoadBalancerBackend[],
): readonly Step[] {
  const { cloud, excludedIds } = current;
  const members = cloud.members.get(rule.id);
  // Not known: a VM that is there already must not be added again.
  if (members === undefined) return [];
  const desired = new Set(listBackends(cloud, rule.networkId, backends).map(({ id }) => id));
  const isWhole = backends.every((one) => findVm(cloud, one) !== undefined);
  const added = [...desired.difference(members)].toSorted();
  const removed = [...members.difference(desired)]
    .filter((id) => isWhole || cloud.vms.get(id)?.isGone === true || excludedIds?.has(id) === true)
    .toSorted();
  const ruleId = rule.id;
  // A part of its own: if CloudStack refuses to change the clients of a rule, its backends still follow the Nodes.
  return inPart(`backends of ${toPart(rule)}`, [
    ...toSteps(current, rule, added, "add", { kind: "addBackends", ruleId, vmIds: added }),
    ...toSteps(current, rule, removed, "remove", {
      kind: "removeBackends",
      ruleId,
      vmIds: removed,
    }),
  ]);
}

/** The VMs that may be behind a rule in a network. */
export function listBackends(
  cloud: Observation,
  networkId: string,
  backends: readonly LoadBalancerBackend[],
): readonly BackendVm[] {
  return backends.flatMap((backend) => {
    const vm = findVm(cloud, backend);
    // Any interface in the network works. Rules of version 1.x may be in a network without the Node's InternalIP.
    return vm !== undefined && !vm.isGone && hasNic(vm, networkId) ? [vm] : [];
  });
}

/**
 * Chooses the network for a new load balancer: that of the interface with the InternalIP, or of the first one, of most
 * Nodes.
 *
 * @returns Its ID; `undefined` if no Node is in a network that is known
 */
export function chooseNetwork(
  cloud: Pick<Observation, "vms">,
  backends: readonly LoadBalancerBackend[],
): string | undefined {
  const counts = new Map<string, number>();
  for (const backend of backends) {
    const vm = findVm(cloud, backend);
    // A guest may have given itself its InternalIP: then the first interface, as version 1.x did.
    const nic =
      vm?.nics.find(({ ips }) => backend.internalIps.some((ip) => ips.includes(ip))) ?? vm?.nics[0];
    if (vm?.isGone === false && nic !== undefined) {
      counts.set(nic.networkId, (counts.get(nic.networkId) ?? 0) + 1);
    }
  }
  const [first] = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return first?.[0];
}

/** Says which Nodes are outside the network of the load balancer; the Service waits if all are. */
export function checkBackends(
  { cloud, claim }: Current,
  network: Network,
  backends: readonly LoadBalancerBackend[],
): readonly LoadBalancerProblem[] {
  const known = backends.filter((one) => findVm(cloud, one)?.isGone === false);
  const outside = known.filter((one) => !hasNic(findVm(cloud, one), network.id));
  if (outside.length === 0) return [];
  const names = outside.map(({ nodeName }) => nodeName).toSorted();
  const shown = names.slice(0, NAMES_MAX).join(", ") + (names.length > NAMES_MAX ? " …" : "");
  const where = `the network ${quote(network.name)} (${network.id})`;
  if (outside.length === known.length) {
    const selects = Object.hasOwn(claim.annotations, NODE_SELECTOR);
    const [which, instead] = selects
      ? [`Node that the annotation ${NODE_SELECTOR} selects`, "select others"]
      : ["Node", "make a new Service"];
    const advice = `give the Nodes an interface there, or ${instead}`;
    const message = `no ${which} has an interface in ${where} of the load balancer: ${advice}`;
    return [toWaiting("NodesInOtherNetworks", message)];
  }
  const [has, gets] =
    names.length === 1 ? ["1 Node has", "gets"] : [`${names.length} Nodes have`, "get"];
  const message = `${has} no interface in ${where} and ${gets} no traffic: ${shown}`;
  return [{ ...toNotice("NodesInOtherNetworks", message), isOnce: true }];
}

function findVm(
  cloud: Pick<Observation, "vms">,
  { instanceId }: LoadBalancerBackend,
): BackendVm | undefined {
  return instanceId === undefined ? undefined : cloud.vms.get(instanceId);
}

function hasNic(vm: BackendVm | undefined, networkId: string): boolean {
  return vm?.nics.some((nic) => nic.networkId === networkId) ?? false;
}

function toSteps(
  current: Current,
  rule: Rule,
  vmIds: readonly string[],
  verb: string,
  change: Step["change"],
): readonly Step[] {
  if (vmIds.length === 0) return [];
  const what = vmIds.length === 1 ? "1 backend" : `${vmIds.length} backends`;
  const link = verb === "add" ? "to" : "from";
  const summary = `${verb} ${what} ${link} rule ${rule.protocol} ${rule.publicPort} on ${rule.ip}`;
  return [toStep(current, summary, change, rule.networkId)];
}
