/**
 * A virtual machine as the API shows it, by the details that are asked for and by who asks.
 * @module
 */
import type { Account } from "../access/accounts.ts";
import { toInvalid } from "../replies.ts";
import { toUuid } from "../../uuid.ts";
import { toDate } from "../world/jobs.ts";
import type { Nic, PublicIp, Vm } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import { toOwner } from "./owner_reply.ts";
import { toTagsReply } from "./tag_reply.ts";

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
