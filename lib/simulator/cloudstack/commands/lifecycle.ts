/**
 * The commands that change a virtual machine's state.
 * @module
 */
import type { Account } from "../access/accounts.ts";
import { ApiError, toInvalid } from "../replies.ts";
import type { Vm, VmState } from "../world/records.ts";
import { needNamed, type Call, type Command, type WantedJob } from "./call.ts";
import { checkOwner } from "./owned.ts";
import { toVmReply, toVmView } from "./vm_reply.ts";

/** The commands. */
export const LIFECYCLE_COMMANDS: Readonly<Record<string, Command>> = {
  startVirtualMachine: { kind: "job", run: (call) => toPowerJob(call, START) },
  stopVirtualMachine: { kind: "job", run: (call) => toPowerJob(call, STOP) },
  destroyVirtualMachine: { kind: "job", run: destroy },
  expungeVirtualMachine: { kind: "job", run: expunge },
};

/** A change of state: from where, by way of, to. */
interface Change {
  readonly from: readonly VmState[];
  readonly by: VmState;
  readonly to: VmState;
}

const START: Change = { from: ["Stopped", "Shutdown"], by: "Starting", to: "Running" };
const STOP: Change = { from: ["Running", "Unknown"], by: "Stopping", to: "Stopped" };
const DESTROY: Change = {
  from: ["Running", "Stopped", "Shutdown", "Error", "Unknown"],
  by: "Stopping",
  to: "Destroyed",
};

function toPowerJob(call: Call, change: Change): WantedJob {
  const vm = needVm(call);
  return toJob(vm, {
    begin: () => enter(vm, change),
    run: () => {
      vm.state = change.to;
      return show(vm, call);
    },
  });
}

function destroy(call: Call): WantedJob {
  const vm = needVm(call);
  const isExpunged = call.parameters.isTrue("expunge");
  if (isExpunged) checkAdmin(call.caller.account, "Expunging");
  return toJob(vm, {
    begin: () => enter(vm, DESTROY),
    run: () => {
      vm.state = "Destroyed";
      const shown = show(vm, call);
      if (isExpunged) call.state.expunge(vm.id);
      return shown;
    },
  });
}

function expunge(call: Call): WantedJob {
  const vm = needVm(call);
  checkAdmin(call.caller.account, "Expunging");
  return toJob(vm, {
    begin: () => enter(vm, { from: ["Destroyed", "Error"], by: "Expunging", to: "Expunging" }),
    run: () => {
      call.state.expunge(vm.id);
      return { success: true };
    },
  });
}

function toJob(vm: Vm, work: Pick<WantedJob, "begin" | "run">): WantedJob {
  return { ...work, instanceType: "VirtualMachine", instanceId: vm.id, serialKey: vm.id };
}

function enter(vm: Vm, { from, by }: Change): void {
  if (!from.includes(vm.state)) {
    throw new ApiError(530, `Unable to change ${vm.name}: it is ${vm.state}`, 4250);
  }
  vm.state = by;
}

function needVm(call: Call): Vm {
  const { parameters, state } = call;
  const vm = needNamed(parameters, "id", state.vms);
  if (vm.isRemoved) throw toInvalid(`unable to find a virtual machine with id ${vm.id}`);
  checkOwner(call, vm.accountId, vm.name);
  return vm;
}

function checkAdmin(account: Account, what: string): void {
  if (account.type !== "user") return;
  const text = `${what} a vm can only be done by an Admin. Or when the allow.user.expunge.recover.vm key is set.`;
  throw new ApiError(531, text, 4365);
}

function show(vm: Vm, { caller, state }: Call): object {
  return { virtualmachine: toVmReply(vm, toVmView(state, caller.account, [])) };
}
