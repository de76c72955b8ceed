/**
 * Finds the VM of a Node among those of a list. Pure.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Instance } from "../../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../../cloud/provider.ts";
import { parseUuid } from "../../../core/text/values.ts";
import { findNameless } from "../../../cloud_http/decode.ts";
import {
  findUnreadableNames,
  type Identity,
  isDead,
  isDeadInstance,
  isGone,
  isOlderThan,
  toRank,
} from "./inventory.ts";
import { parseIp } from "../../../core/net/ip.ts";
import type { BackendVm } from "../load_balancers/observation.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Nic, Vm } from "../wire/schema.ts";

/** Names are indexed once for each list: it may have 5,000 VMs, and all Nodes are looked up in it. */
const INDEXES = new WeakMap<Inventory["instances"], ReadonlyMap<string, readonly Instance[]>>();

const TOO_OLD =
  "CloudStack's last list of VMs is older than the Node, so a VM of that name may be the one before it";

/** Finds the instance of a Node in an inventory: by the ID of its provider ID, else by its name. */
export function findInstance(inventory: Inventory, identity: Identity): Presence {
  if (identity.kind === "other") return identity.presence;
  if (identity.kind === "name") {
    const found = chooseByName(findNamed(inventory.instances, identity), identity, {
      gap: findGap(inventory),
      undecodable: inventory.undecodable,
      unreadableNames: findUnreadableNames(inventory),
    });
    const isTooOld = isOlderThan(inventory, identity);
    if (found.kind === "present" && isTooOld && !isOwnId(found.instance, identity)) {
      return toUnknown("noInventory", TOO_OLD);
    }
    // A new Node is then asked for by its name alone: the list of VMs with one name is short, and so rather whole.
    const isOpen = found.kind === "unknown" && found.reason === "notCovered";
    return isOpen && !identity.isNameless ? toUnknown("notListed", found.message) : found;
  }
  const { vmId } = identity;
  const instance = inventory.instances.get(vmId);
  if (instance) return { kind: "present", instance, matchedBy: "providerId" };
  const problem = inventory.undecodable.get(vmId);
  if (problem !== undefined) return toUndecodable(vmId, problem);
  const gap = findGap(inventory);
  if (gap !== undefined) {
    return toUnknown(
      "notCovered",
      `CloudStack's list of VMs lacks VM ${vmId}, but is not whole: ${gap}`,
    );
  }
  return toUnknown("notListed", `CloudStack lists no VM ${vmId}`);
}

/**
 * Whether a Node reports the ID of its instance, as machines on KVM do. Then it is no other machine of that name, even
 * if the list is older than the Node: without this, Nodes that arrive one after another need one list each.
 */
function isOwnId(
  { id }: Instance,
  { systemUuid = "" }: Extract<Identity, { kind: "name" }>,
): boolean {
  return parseUuid(systemUuid) === id;
}

/**
 * Whether an instance is off although the kubelet of the new Node runs, and the Node does not report its ID. It is then
 * rather another machine of that name, and the own one is in a place that the user does not see. A Node that has a
 * provider ID is not new.
 */
function isOffAndStrange(
  instance: Instance,
  identity: Extract<Identity, { kind: "name" }>,
): boolean {
  return instance.state === "stopped" && !identity.isNameless && !isOwnId(instance, identity);
}

/** What a list may hold besides the VMs that could be read. */
interface ListDoubts {
  /** Why it may lack VMs; absent when it is whole. */
  readonly gap?: string | undefined;
  readonly undecodable: Inventory["undecodable"];
  /** Names of VMs that cannot be read otherwise, in lower case. */
  readonly unreadableNames: ReadonlySet<string>;
}

/**
 * Chooses the instance of a Node among those of its name. A destroyed VM never counts: the Node may belong to a
 * successor of the same name that is newer than the list, and the provider ID is written for good. For the same reason
 * one VM of the name is not enough while the list may hold another one.
 */
export function chooseByName(
  named: readonly Instance[],
  identity: Extract<Identity, { kind: "name" }>,
  doubts: ListDoubts,
): Presence {
  const { name } = identity;
  const [instance, ...others] = named.filter((one) => !isDeadInstance(one));
  if (others.length === 0) {
    const doubt = findDoubt(identity, doubts);
    if (doubt !== undefined) return doubt;
  }
  if (instance === undefined) {
    return toUnknown("notListed", `CloudStack lists no VM with the name "${name}"`);
  }
  if (others.length > 0) {
    const ids = [instance, ...others]
      .map(({ id }) => id)
      .sort()
      .join(", ");
    const advice =
      "rename all but one, or start the kubelet with --provider-id=external-cloudstack://<VM UUID>";
    return toUnknown(
      "ambiguous",
      `Cannot choose between the VMs ${ids}: all have the name "${name}"; ${advice}`,
    );
  }
  if (isOffAndStrange(instance, identity)) {
    const advice =
      "start it if it is the Node's VM; if not, rename it, and check project-id, or start the kubelet with " +
      "--provider-id=external-cloudstack://<VM UUID>";
    return toUnknown(
      "notCovered",
      `VM ${instance.id} has the name "${name}" but is off, while the kubelet of the new Node runs; ${advice}`,
    );
  }
  return { kind: "present", instance, matchedBy: "name" };
}

/** Why a VM with the name of a Node may be missing among those that can be read. */
function findDoubt(
  { name, short }: Extract<Identity, { kind: "name" }>,
  { gap, undecodable, unreadableNames }: ListDoubts,
): (Presence & { kind: "unknown" }) | undefined {
  const about = `Cannot tell which VM has the name "${name}"`;
  if (gap !== undefined) {
    return toUnknown("notCovered", `${about}: CloudStack's list of VMs is not whole: ${gap}`);
  }
  const isSame = unreadableNames.has(name) || (short !== undefined && unreadableNames.has(short));
  const [first = "it is listed twice"] = undecodable.values();
  const problem = isSame ? first : findNameless(undecodable);
  if (problem === undefined) return undefined;
  const what = isSame ? "a VM with that name" : "a VM";
  const message = `${about}: the list holds ${what} that Landfall cannot read: ${problem}`;
  return toUnknown(isSame ? "undecodable" : "notCovered", message);
}

/** The instances that have the name of a Node, or, if there is none, its part before the first dot. In any case. */
export function findNamed(
  instances: Inventory["instances"],
  { name, short }: Extract<Identity, { kind: "name" }>,
): readonly Instance[] {
  const index = INDEXES.get(instances) ?? indexNames(instances);
  INDEXES.set(instances, index);
  return index.get(name) ?? (short === undefined ? [] : (index.get(short) ?? []));
}

/** The server shows a VM in a form that cannot be read. */
export function toUndecodable(vmId: string, problem: string): Presence {
  return toUnknown("undecodable", `Cannot read VM ${vmId} in the answer of CloudStack: ${problem}`);
}

/** Why a list may lack VMs; absent when it is whole. */
function findGap({ coverage }: Inventory): string | undefined {
  for (const { complete, reason } of coverage.values()) if (!complete) return reason ?? "";
  return undefined;
}

function indexNames(instances: Inventory["instances"]): ReadonlyMap<string, readonly Instance[]> {
  const index = new Map<string, Instance[]>();
  for (const instance of instances.values()) {
    const name = instance.name.toLowerCase();
    const same = index.get(name);
    if (same) same.push(instance);
    else index.set(name, [instance]);
  }
  return index;
}

/** The VMs of one list. */
export interface Backends {
  /** By ID. A VM that cannot be read is missing. */
  readonly vms: ReadonlyMap<string, BackendVm>;
  /** When the list was requested, in monotonic milliseconds. */
  readonly observedAtMs: number;
  /** Whether these are all VMs that the user may see. */
  readonly isWhole: boolean;
}

/** The VMs of a list, with their interfaces in every network. */
export function toBackends(
  { objects, undecodable, gap }: ObjectList<Vm>,
  observedAtMs: number,
): Backends {
  return {
    observedAtMs,
    vms: new Map(objects.map((vm) => [vm.id, toBackendVm(vm)])),
    isWhole: gap === undefined && undecodable.size === 0,
  };
}

function toBackendVm({ id, state, nic }: Vm): BackendVm {
  const inOrder = (nic ?? []).toSorted((a, b) => toRank(a) - toRank(b));
  return { id, isGone: isGone(state) || isDead(state), nics: inOrder.flatMap(toNic) };
}

function toNic({ networkid, ipaddress, ip6address }: Nic): BackendVm["nics"] {
  if (!networkid) return [];
  const ips = [ipaddress, ip6address].flatMap((text) => parseIp(text ?? "")?.text ?? []);
  return [{ networkId: networkid.toLowerCase(), ips }];
}
