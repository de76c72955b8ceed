/**
 * VMs as load balancers need to know them. Pure.
 * @module
 */
import { parseIp } from "../../../core/net/ip.ts";
import type { BackendVm } from "../load_balancers/observation.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Nic, Vm } from "../wire/schema.ts";
import { toRank } from "./addresses.ts";
import { isDead, isGone } from "./power.ts";

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
