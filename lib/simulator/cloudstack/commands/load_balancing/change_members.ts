/**
 * `assignToLoadBalancerRule` and `removeFromLoadBalancerRule`: which virtual machines are behind a rule.
 * @module
 */
import { ApiError, toInvalid, toUnknownEntity } from "../../replies.ts";
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
      if (!state.loadBalancerRules.has(rule.id)) {
        const text = `Failed to assign to load balancer ${toNumber(rule.id)}`;
        throw toRefused(`${text}, the load balancer was not found.`);
      }
      added = named.map((vm) => toMember(vm, rule, state));
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
      revoked = rule.members.filter(({ vmId }) => named.some((vm) => vm.id === vmId));
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

function readNamed({ parameters, state }: Call): Vm[] {
  const ids = parameters.list("virtualmachineids");
  if (ids.length === 0) throw toInvalid("Both instanceids and vmidipmap  can't be null");
  return [...new Set(ids.map((id) => needVm(parameters, id, state)))];
}

/** An expunged machine is known by its ID; the job says that it is gone. */
function needVm({ command }: Parameters, id: string, { vms }: CloudStackState): Vm {
  const vm = vms.get(id.toLowerCase());
  if (vm === undefined) throw toUnknownEntity(command, "virtualmachineids", id);
  return vm;
}

function toMember(vm: Vm, rule: LoadBalancerRule, state: CloudStackState): Member {
  if (vm.isRemoved || vm.state === "Destroyed" || vm.state === "Expunging") {
    throw toRefused("Invalid instance id specified");
  }
  if (vm.accountId !== rule.accountId) {
    throw toRefused(`New rule ${rule.name} and vm id=${vm.name} belong to different accounts`);
  }
  const nic = vm.nics.find(({ networkId }) => networkId === rule.networkId);
  if (nic === undefined) {
    throw toRefused(
      "VM with id specified cannot be added because it doesn't belong in the same network.",
    );
  }
  const ip = nic.ipAddress ?? "";
  if (rule.members.some(({ vmId }) => vmId === vm.id)) {
    const number = [...state.vms.keys()].indexOf(vm.id) + 1;
    throw toRefused(`VM ${number} with ${ip} is already mapped to load balancer.`);
  }
  return { vmId: vm.id, ip, isRevoked: false };
}

/** For any reason, the job fails with an internal error. */
function toRefused(reason: string): ApiError {
  return new ApiError(530, `Failed to assign load balancer rule due to: ${reason}`);
}
