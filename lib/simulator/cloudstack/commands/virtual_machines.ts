/**
 * `listVirtualMachines`: which virtual machines a caller sees, and which of them are asked for.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { toInvalid, toUnknownEntity } from "../replies.ts";
import type { Settings } from "../settings.ts";
import type { Vm } from "../world/records.ts";
import { findNamed, toList, type Call, type Command, type List } from "./call.ts";
import { toVmReply, toVmView } from "./vm_reply.ts";

/** The command. */
export const VM_COMMANDS: Readonly<Record<string, Command>> = {
  listVirtualMachines: { kind: "list", run: listVirtualMachines },
};

const GONE: ReadonlySet<string> = new Set(["Destroyed", "Expunging"]);

function listVirtualMachines(call: Call): List {
  const { caller, parameters, state } = call;
  const ids = readIds(call);
  const isOwned = toScope(caller.account, parameters, state);
  const isWanted = createFilter(call);
  const found: Vm[] = [];
  for (const vm of state.vms.values()) {
    if (ids !== undefined && !ids.has(vm.id)) continue;
    if (!vm.isRemoved && isOwned(vm.accountId) && isShown(vm, call) && isWanted(vm)) found.push(vm);
  }
  const view = toVmView(state, caller.account, parameters.list("details"));
  return toList("virtualmachine", found, (vm) => toVmReply(vm, view));
}

/** The IDs that are asked for. The server knows those of machines that were expunged, too: they are no error. */
function readIds({ parameters, state }: Call): ReadonlySet<string> | undefined {
  const id = parameters.get("id");
  const ids = parameters.list("ids");
  if (id !== undefined && ids.length > 0) {
    throw toInvalid("Specify either id or ids but not both parameters");
  }
  const wanted = id === undefined ? ids : [id];
  if (wanted.length === 0) return undefined;
  for (const one of wanted) {
    if (state.vms.has(one.toLowerCase())) continue;
    throw toUnknownEntity(parameters.command, id === undefined ? "ids" : "id", one);
  }
  return new Set(wanted.map((one) => one.toLowerCase()));
}

/** No user sees what is hidden; only some users see what is Destroyed. */
function isShown(vm: Vm, { caller: { account } }: Call): boolean {
  if (!vm.isDisplayed) return false;
  const seesDestroyed = account.type !== "user" || account.seesDestroyed === true;
  return seesDestroyed || !GONE.has(vm.state);
}

function createFilter({ parameters, state, settings }: Call): (vm: Vm) => boolean {
  const name = parameters.get("name");
  const wantedState = parameters.get("state");
  const zone = findNamed(parameters, "zoneid", state.zones);
  const network = findNamed(parameters, "networkid", state.networks);
  const offering = findNamed(parameters, "serviceofferingid", state.offerings);
  const keyword = parameters.get("keyword")?.toLowerCase();
  return (vm) => {
    if (name !== undefined && !isNamed(vm.name, name, settings)) return false;
    if (wantedState !== undefined && !isInState(vm, wantedState)) return false;
    if (zone !== undefined && vm.zoneId !== zone.id) return false;
    if (offering !== undefined && vm.offeringId !== offering.id) return false;
    if (network !== undefined && !vm.nics.some((nic) => nic.networkId === network.id)) return false;
    return keyword === undefined || contains(vm, keyword);
  };
}

function isNamed(actual: string, wanted: string, { nameMatch }: Settings): boolean {
  const [one, other] = [actual.toLowerCase(), wanted.toLowerCase()];
  return nameMatch === "part" ? one.includes(other) : one === other;
}

function isInState({ state }: Vm, wanted: string): boolean {
  const lower = wanted.toLowerCase();
  return lower === "present" ? !GONE.has(state) : state.toLowerCase() === lower;
}

function contains({ name, displayName, state, nics }: Vm, keyword: string): boolean {
  const texts = [name, displayName, ...nics.map((nic) => nic.ipAddress ?? "")];
  if (state.toLowerCase() === keyword) return true;
  return texts.some((text) => text.toLowerCase().includes(keyword));
}
