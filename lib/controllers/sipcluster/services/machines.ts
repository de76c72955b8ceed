/**
 * The hosts of a cluster as its services see them. What is not known of a host now is taken from what was known last:
 * a Secret that is gone for a moment says nothing about the host. Pure.
 * @module
 */
import { nameSome } from "../../kinds/problems.ts";
import type { HostNetworks } from "../hosts/address_reader.ts";
import { type NetworkData, toAddresses } from "../hosts/network_data.ts";
import type { ServiceState } from "../resource/conditions.ts";
import type { HostStatus, SipServices } from "../resource/sip_cluster.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import type { Assigned } from "../schedule/types.ts";
import type { Machine } from "./types.ts";
import { quote } from "../../../core/text/printable.ts";
import type { Key } from "../../../kube/cache/store.ts";

/** Stands for a service in {@linkcode judgeHosts}. */
export const OF_HOSTS = "hosts";

/** A host of the cluster, and what is known of its addresses. */
export interface Member {
  readonly key: Key;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly assigned: Assigned;
  /** Absent: it was not read, because no service needs an address. */
  readonly networks?: HostNetworks | undefined;
  /** What its network data said last in this process. */
  readonly last?: NetworkData | undefined;
  /** As the status of the cluster has it. */
  readonly status?: HostStatus | undefined;
  /** The Secret with its network data. */
  readonly secret?: string | undefined;
}

/** The hosts, and what is wrong with their addresses. */
export interface MachineList {
  /** In the order of the members. */
  readonly machines: readonly Machine[];
  /** `lastKnown` counts on, `unknown` is not known at all, `lacking` is known to have none. Each names the host. */
  readonly lastKnown: readonly string[];
  readonly unknown: readonly string[];
  readonly lacking: readonly string[];
  /** The hosts of all three. Their network data is read again soon. */
  readonly troubled: readonly Key[];
}

/** Lists the hosts. @param networks IDs of the networks that the services name */
export function listMachines(members: readonly Member[], networks: readonly string[]): MachineList {
  const machines: Machine[] = [];
  const lastKnown: string[] = [];
  const unknown: string[] = [];
  const lacking: string[] = [];
  const troubled: Key[] = [];
  for (const member of members) {
    const { key, uid, namespace, name, assigned } = member;
    const { addresses, gaps, problem, trouble } = readMember(member, networks);
    if (problem !== undefined) (gaps.size > 0 ? unknown : lastKnown).push(`${key} (${problem})`);
    else if (trouble !== undefined) lacking.push(`BareMetalHost ${key} has ${trouble}`);
    if (problem !== undefined || trouble !== undefined) troubled.push(key);
    machines.push({
      uid,
      namespace,
      name,
      role: assigned.role,
      standby: assigned.standby,
      addresses,
      ...(gaps.size > 0 && { unknown: gaps }),
    });
  }
  return { machines, lastKnown, unknown, lacking, troubled };
}

/** What `ServicesReady` says about the addresses of hosts. */
export function judgeHosts(list: MachineList): readonly ServiceState[] {
  const twins = listTwins(list.machines);
  const state = judgeAddresses(list);
  const conflict = {
    service: OF_HOSTS,
    isReady: true,
    reason: CONDITION_WORDS.ServicesReady.addressConflict.reason,
    message: `hosts have the same address: ${nameSome(twins)}`,
  };
  return [...(state ? [state] : []), ...(twins.length > 0 ? [conflict] : [])];
}

/** What is to say about addresses that are not known. */
function judgeAddresses({
  machines,
  lastKnown,
  unknown,
  lacking,
}: MachineList): ServiceState | undefined {
  const sentences = [
    unknown.length > 0 &&
      `the addresses of these hosts are not known: ${nameSome(unknown)}. ` +
        "Landfall leaves services that need them as they are",
    lastKnown.length > 0 && `the last known addresses of these hosts count: ${nameSome(lastKnown)}`,
    lacking.length > 0 && nameSome(lacking),
  ].filter((sentence) => sentence !== false);
  if (sentences.length === 0) return undefined;
  const state = { service: OF_HOSTS, message: sentences.join(". ") };
  const { unknownAddresses, failed, lastKnownAddresses } = CONDITION_WORDS.ServicesReady;
  if (unknown.length > 0) return { ...state, isReady: false, reason: unknownAddresses.reason };
  // A cluster none of whose hosts has its addresses serves nothing, mostly because an ID is misspelt.
  if (lacking.length > 0 && lacking.length === machines.length)
    return { ...state, isReady: false, reason: failed.reason };
  return {
    ...state,
    isReady: true,
    ...(lastKnown.length > 0 && { reason: lastKnownAddresses.reason }),
  };
}

/** Addresses that several hosts have on a network: one of them answers for all. */
function listTwins(machines: readonly Machine[]): readonly string[] {
  const holders = machines.flatMap(({ namespace, name, addresses }) =>
    Array.from(addresses, ([network, address]) => ({
      place: `${address} on network ${quote(network)}`,
      host: `${namespace}/${name}`,
    })),
  );
  return [...Map.groupBy(holders, ({ place }) => place)]
    .filter(([, found]) => found.length > 1)
    .map(([place, found]) => `${place} (${nameSome(found.map(({ host }) => host))})`);
}

interface Reading {
  readonly addresses: ReadonlyMap<string, string>;
  /** Networks of which nothing is known. */
  readonly gaps: ReadonlySet<string>;
  /** Why its network data is not known. */
  readonly problem?: string;
  /** Which address it is known not to have. */
  readonly trouble?: string;
}

function readMember(
  { networks: data, last, status, secret }: Member,
  networks: readonly string[],
): Reading {
  if (data === undefined) return { addresses: new Map(), gaps: new Set() };
  if (!("problem" in data)) {
    const result = toAddresses(data, networks);
    return {
      addresses: pickNetworks(data.addresses, networks),
      gaps: new Set(),
      ...(result.kind === "trouble" && { trouble: result.trouble }),
    };
  }
  const problem = secret === undefined ? data.problem : `${data.problem}: Secret ${secret}`;
  if (last !== undefined) {
    return { addresses: pickNetworks(last.addresses, networks), gaps: new Set(), problem };
  }
  // After a restart. The status does not say whether a host had no address on a network.
  const addresses = pickNetworks(new Map(Object.entries(status?.networks ?? {})), networks);
  return { addresses, gaps: new Set(networks.filter((id) => !addresses.has(id))), problem };
}

/** The addresses on some networks. A status names no others. */
function pickNetworks(
  addresses: ReadonlyMap<string, string>,
  networks: readonly string[],
): ReadonlyMap<string, string> {
  return new Map([...addresses].filter(([network]) => networks.includes(network)));
}

/** The IDs of these networks, sorted. */
export function listNetworks(services: SipServices): readonly string[] {
  const entries = Object.values(services).flat();
  const ids = entries.map(({ nodeInterfaceId }) => nodeInterfaceId ?? "");
  return [...new Set(ids)].filter((id) => id !== "").toSorted();
}
