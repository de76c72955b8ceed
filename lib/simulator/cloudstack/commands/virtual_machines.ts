/**
 * The commands about virtual machines: a list, and the jobs that start, stop and remove one.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import type { Account } from "../access/accounts.ts";
import { toScope } from "../access/scope.ts";
import { ApiError, toInvalid, toUnknownEntity } from "../replies.ts";
import type { Settings } from "../settings.ts";
import { toDate } from "../world/jobs.ts";
import type { Nic, PublicIp, Vm, VmState } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  checkOwner,
  type Command,
  findNamed,
  type List,
  needNamed,
  toList,
  toOwner,
  toTagsReply,
  type WantedJob,
} from "./call.ts";

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

const DETAILS: ReadonlySet<string> = new Set(
  "all group nics stats secgrp tmpl servoff diskoff backoff iso volume min affgrp".split(" "),
);

/** How virtual machines are shown in one answer. */
interface VmView {
  readonly state: CloudStackState;
  readonly caller: Account;
  /** Parts beyond the ones that are always there; all of them when empty. */
  readonly details: readonly string[];
  /** Public addresses with static NAT, by the virtual machine they lead to. */
  readonly staticNat: ReadonlyMap<string, PublicIp>;
}

/**
 * A view for one answer.
 *
 * @throws {ApiError} 431 for a detail that does not exist
 */
export function toVmView(
  state: CloudStackState,
  caller: Account,
  details: readonly string[],
): VmView {
  if (details.some((one) => !DETAILS.has(one))) {
    const allowed = [...DETAILS].join(", ");
    throw toInvalid(
      `The details parameter contains a non permitted value. The allowed values are [${allowed}]`,
    );
  }
  const staticNat = new Map<string, PublicIp>();
  for (const ip of state.publicIps.values()) {
    if (ip.staticNatVmId !== undefined) staticNat.set(ip.staticNatVmId, ip);
  }
  return { state, caller, details, staticNat };
}

/** Shows a virtual machine. Fields without a value are left out. */
export function toVmReply(vm: Vm, view: VmView): Record<string, unknown> {
  const { state, caller, details, staticNat } = view;
  const has = (detail: string): boolean =>
    details.length === 0 || details.includes("all") || details.includes(detail);
  const ip = staticNat.get(vm.id);
  const reply: Record<string, unknown> = {
    id: vm.id,
    name: vm.name,
    displayname: vm.displayName,
    ...toOwner(vm.accountId, state),
    ...toCreator(vm, state),
    created: toDate(vm.createdMs),
    state: vm.state,
    haenable: false,
    zoneid: vm.zoneId,
    zonename: state.zones.get(vm.zoneId)?.name,
    ...(caller.type === "admin" && toAdminFields(vm)),
    ...(has("servoff") && toOfferingFields(vm, state)),
    guestosid: toUuid("guestos/debian-12"),
    ...(ip && { publicipid: ip.id, publicip: ip.address }),
    // As on a real server, these lists are there even if they were not asked for.
    securitygroup: [],
    ...(has("nics") && {
      nic: vm.nics.map((nic, at) => ({ ...toNicReply(nic, vm, view), deviceid: String(at) })),
    }),
    hypervisor: "KVM",
    details: {},
    affinitygroup: [],
    displayvm: vm.isDisplayed,
    isdynamicallyscalable: false,
    tags: toTagsReply(state, vm.id),
  };
  return { ...reply, ...vm.overrides };
}

/** Who made it: the first user of the account. */
function toCreator({ accountId }: Vm, { users }: CloudStackState): object {
  const user = [...users.values()].find((one) => one.accountId === accountId);
  return user === undefined ? {} : { userid: user.id, username: user.username };
}

function toAdminFields(vm: Vm): object {
  const isPlaced = ["Running", "Migrating", "Stopping"].includes(vm.state);
  const host = { hostid: toUuid(`host/${vm.hostName}`), hostname: vm.hostName };
  return { ...(isPlaced && host), instancename: `i-2-${vm.id.slice(0, 4)}-VM` };
}

function toOfferingFields({ offeringId }: Vm, { offerings }: CloudStackState): object {
  const offering = offerings.get(offeringId);
  return {
    serviceofferingid: offeringId,
    serviceofferingname: offering?.name,
    cpunumber: offering?.cpus,
    cpuspeed: offering?.speedMhz,
    memory: offering?.memoryMib,
  };
}

function toNicReply(nic: Nic, vm: Vm, { state, staticNat }: VmView): object {
  const network = state.networks.get(nic.networkId);
  const ip = nic.isDefault ? staticNat.get(vm.id) : undefined;
  const octets = [nic.id.slice(0, 2), nic.id.slice(2, 4), nic.id.slice(4, 6)];
  return {
    id: nic.id,
    networkid: nic.networkId,
    networkname: network?.name,
    ...(network && { netmask: "255.255.255.0", gateway: `${network.prefix}1` }),
    ipaddress: nic.ipAddress,
    ...(nic.ip6Address !== undefined && { ip6address: nic.ip6Address, ip6cidr: "fd00:10::/64" }),
    isolationuri: "vlan://1850",
    broadcasturi: "vlan://1850",
    traffictype: "Guest",
    type: network?.type,
    isdefault: nic.isDefault,
    macaddress: ["02", "00", "4c", ...octets].join(":"),
    secondaryip: [],
    ...(ip && { publicipid: ip.id, publicip: ip.address }),
    extradhcpoption: [],
  };
}

/** The commands. */
export const LIFECYCLE_COMMANDS: Readonly<Record<string, Command>> = {
  startVirtualMachine: { kind: "job", run: (call) => toPowerJob(call, START) },
  stopVirtualMachine: { kind: "job", run: (call) => toPowerJob(call, STOP) },
  destroyVirtualMachine: { kind: "job", run: destroy },
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
