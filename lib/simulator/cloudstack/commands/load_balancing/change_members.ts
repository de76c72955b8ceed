/**
 * `assignToLoadBalancerRule` and `removeFromLoadBalancerRule`: which virtual machines are behind a rule.
 * @module
 */
import { toInvalid, toUnknownEntity } from "../../replies.ts";
import {
  applyRule,
  toNumber,
  type LoadBalancerRule,
  type Member,
} from "../../world/load_balancing.ts";
import type { Vm } from "../../world/records.ts";
import type { CloudStackState } from "../../world/state.ts";
import type { Call, WantedJob } from "../call.ts";
import type { Parameters } from "../../parameters.ts";
import { needOwned } from "../owned.ts";

/** A machine that the request names, and the addresses of it that are asked for; `undefined` is its own one. */
interface Named {
  readonly vm: Vm;
  readonly ips: readonly (string | undefined)[];
}

/**
 * Adds members and sends the rule to the router. One machine that is a member already, or that cannot be one, fails the
 * whole call.
 */
export function assign(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const named = readNamed(call);
  let added: Member[] = [];
  return {
    ...toJob(rule),
    begin: () => {
      const text = `Failed to assign to load balancer ${toNumber(rule.id)}`;
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`${text}, the load balancer was not found.`);
      }
      if (rule.isAutoscaled === true) {
        throw toInvalid(`${text} because it is being used by an Autoscale VM group.`);
      }
      added = named.flatMap((one) => toMembers(one, rule, state));
      rule.members = [...rule.members, ...added];
    },
    run: () => toApplied(rule, state),
    undo: () => {
      rule.members = rule.members.filter((member) => !added.includes(member));
    },
  };
}

/** Takes members away and sends the rule to the router. A machine that is no member is no error. */
export function remove(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const named = readNamed(call);
  let revoked: Member[] = [];
  return {
    ...toJob(rule),
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Invalid load balancer value: ${toNumber(rule.id)}`);
      }
      revoked = named.flatMap((one) => findMembers(one, rule));
      for (const member of revoked) member.isRevoked = true;
    },
    run: () => toApplied(rule, state),
    undo: () => {
      for (const member of revoked) member.isRevoked = false;
    },
  };
}

function toJob({ id, networkId }: LoadBalancerRule): Omit<WantedJob, "run"> {
  return { instanceType: "FirewallRule", instanceId: id, serialKey: `network/${networkId}` };
}

/** A rule may be gone by the end of the job, with its address. */
function toApplied(rule: LoadBalancerRule, state: CloudStackState): object {
  if (state.loadBalancerRules.has(rule.id)) applyRule(rule, state.stickinessPolicies);
  return { success: true };
}

/** From `virtualmachineids`, and from `vmidipmap[0].vmid` with `vmidipmap[0].vmip`. */
function readNamed({ parameters, state }: Call): Named[] {
  const ids = parameters.list("virtualmachineids").map((id) => ({ id, ip: undefined }));
  const entries = parameters.entries("vmidipmap").map(({ vmid, vmip }) => ({ id: vmid, ip: vmip }));
  if (ids.length + entries.length === 0) {
    throw toInvalid("Both instanceids and vmidipmap  can't be null");
  }
  const byVm = new Map<Vm, (string | undefined)[]>();
  for (const { id = "", ip } of [...ids, ...entries]) {
    const vm = needVm(parameters, id, state);
    byVm.set(vm, [...(byVm.get(vm) ?? []), ip]);
  }
  return [...byVm].map(([vm, ips]) => ({ vm, ips }));
}

/** An expunged machine is known by its ID; the job says that it is gone. */
function needVm({ command }: Parameters, id: string, { vms }: CloudStackState): Vm {
  const vm = vms.get(id.toLowerCase());
  if (vm === undefined) throw toUnknownEntity(command, "virtualmachineids", id);
  return vm;
}

function toMembers({ vm, ips }: Named, rule: LoadBalancerRule, state: CloudStackState): Member[] {
  if (vm.isRemoved || vm.state === "Destroyed" || vm.state === "Expunging") {
    throw toInvalid("Invalid instance id specified");
  }
  if (vm.accountId !== rule.accountId) {
    throw toInvalid(`New rule ${rule.name} and vm id=${vm.name} belong to different accounts`);
  }
  const nic = vm.nics.find(({ networkId }) => networkId === rule.networkId);
  if (nic === undefined) {
    throw toInvalid(
      "VM with id specified cannot be added because it doesn't belong in the same network.",
    );
  }
  const own = nic.ipAddress ?? "";
  const wanted = new Set(ips.map((ip) => ip ?? own));
  const number = [...state.vms.keys()].indexOf(vm.id) + 1;
  for (const ip of wanted) {
    if (rule.members.some((member) => member.vmId === vm.id && member.ip === ip)) {
      throw toInvalid(`VM ${number} with ${ip} is already mapped to load balancer.`);
    }
    if (ip !== own && !nic.secondaryIps.includes(ip)) {
      const network = toNumber(nic.networkId);
      throw toInvalid(`VM ip ${ip} specified does not belong to nic in network ${network}`);
    }
  }
  return [...wanted].map((ip) => ({ vmId: vm.id, ip, isRevoked: false }));
}

function findMembers({ vm, ips }: Named, rule: LoadBalancerRule): Member[] {
  const own = rule.members.filter(({ vmId }) => vmId === vm.id);
  const wanted = ips.filter((ip) => ip !== undefined);
  if (wanted.length === 0) return own;
  return wanted.map((ip) => {
    const member = own.find((one) => one.ip === ip);
    if (member !== undefined) return member;
    throw toInvalid(`The instance id: ${vm.name} is not configured for LB rule ${rule.name}`);
  });
}
