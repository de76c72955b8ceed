/**
 * Which hosts a cluster records as its own. The record in the status is the only word about who has a host: who may
 * write a BareMetalHost may write its labels, and only Landfall may write the status of a SIPCluster. Pure.
 *
 * A host whose labels are about to be written or removed is `pending`: it belongs to the cluster only while its labels
 * say so. So a process can end between the two writes.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { EVERY_NAMESPACE } from "../../../core/text/label.ts";
import { parseList } from "../../../core/text/values.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import { findCondition } from "../../kinds/conditions.ts";
import { nameSome } from "../../kinds/problems.ts";
import { HOST_NAMESPACES_FLAG } from "../flags.ts";
import { checkCluster } from "../resource/check_spec.ts";
import {
  type HostStatus,
  type Role,
  ROLES,
  type SipCluster,
  type SipClusterStatus,
} from "../resource/sip_cluster.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import { toMatcher } from "../schedule/label_selector.ts";
import { byKey } from "../schedule/own_hosts.ts";
import type { HostFacts, Schedule } from "../schedule/types.ts";
import { NODE_TYPE, STANDBY } from "../words.ts";
import { IN_ERROR, isLabelledAs } from "./facts.ts";
import type { HostIndex } from "./host_index.ts";

/** Whether a cluster may take a host, by their namespaces. Both keys are `namespace/name`. */
export type AllowsHost = (cluster: Key, host: Key) => boolean;

/** Reads the namespaces of the flag. A cluster may always take hosts of its own namespace. */
export function toAllowsHost(text: string): AllowsHost {
  const allowed = new Set(parseList(text));
  return (cluster, host) => {
    const namespace = toNamespace(host);
    return (
      allowed.has(EVERY_NAMESPACE) || allowed.has(namespace) || namespace === toNamespace(cluster)
    );
  };
}

/** Allows also the hosts that its status names, and has no record of. */
export function allowNamed({ status }: SipCluster, allows: AllowsHost): AllowsHost {
  const named = new Set(status?.hosts?.filter(isOnlyNamed).map(toKeyOf));
  return (cluster, host) => named.has(host) || allows(cluster, host);
}

/** What a cluster must record before its hosts count. */
type Adoption =
  | { readonly kind: "none" }
  | {
      readonly kind: "adopt";
      readonly record: readonly HostStatus[];
      readonly adopted: readonly Key[];
    }
  /** Its hosts are in namespaces that are not allowed. `message` says so, without a full stop. */
  | {
      readonly kind: "blocked";
      readonly message: string;
      /** Whether its status names them. */
      readonly isNamed: boolean;
    };

/** What {@linkcode planAdoption} needs. */
interface AdoptionOptions {
  readonly index: Pick<HostIndex, "find" | "listClaimants">;
  readonly allows: AllowsHost;
  /** Whether the cluster adopts hosts beside those that it records. @default {false} */
  readonly isOpen?: boolean;
}

/**
 * Decides which hosts a cluster adopts by their labels, of the namespaces that are allowed:
 *
 * - Its status is one of another controller or of an earlier version, which had no record: all with its labels. It is
 *   blocked if its status names hosts of other namespaces, or if that controller had hosts for it and all with its
 *   labels are in others: then the operator forgot to allow them. Who labels a host of another namespace blocks nothing
 * - It never had a host, because it is new or its status was lost, or did not have all since: those that the selector
 *   matches. After a restore, hosts come one after the other
 * - Hosts of its record were created again: those that the selector matches
 */
export function planAdoption(
  cluster: SipCluster,
  { index, allows, isOpen = false }: AdoptionOptions,
): Adoption {
  const key = toKey(cluster);
  const { status } = cluster;
  const { hosts } = status ?? {};
  const isUnrecorded = hosts?.some(isOnlyNamed) === true;
  const isLeftOut = hadHostsOfSip(status);
  const isOld = isUnrecorded || isLeftOut || isOfSip(status);
  const named = new Map(hosts?.map((host) => [toKeyOf(host), host]));
  const claimants = [...index.listClaimants(key)]
    .filter((facts) => hosts === undefined || isUnrecorded || isOpen || named.has(facts.key))
    .toSorted(byKey);
  const checked = checkCluster(cluster);
  const fits = ({ labels }: HostFacts, role: Role): boolean =>
    isOld || (checked.isValid && toMatcher(checked.spec.nodes?.[role]?.labelSelector)(labels));
  const adopted = claimants.flatMap((facts) => {
    const before = named.get(facts.key);
    const role = before?.role ?? ROLES.find((one) => one === facts.labels[NODE_TYPE]);
    const host = index.find(facts.key);
    if (role === undefined || host === undefined || !allows(key, facts.key)) return [];
    const standby = before?.standby ?? facts.labels[STANDBY] === "true";
    return fits(facts, role) ? toRecorded(host, { role, standby }, before) : [];
  });
  const foreign = claimants.map((one) => one.key).filter((one) => !allows(key, one));
  const lacking = foreign.filter((one) => named.has(one));
  const missing = isUnrecorded ? lacking : isLeftOut && adopted.length === 0 ? foreign : [];
  if (missing.length > 0)
    return { kind: "blocked", message: describeForeign(missing), isNamed: isUnrecorded };
  if (adopted.length === 0 && !isUnrecorded) return { kind: "none" };
  const keys = new Set(adopted.map(toKeyOf));
  const rest = (hosts ?? []).filter((one) => one.uid !== undefined && !keys.has(toKeyOf(one)));
  return { kind: "adopt", record: sort([...rest, ...adopted]), adopted: [...keys] };
}

/**
 * What a cluster records before labels are written: hosts that it is to get or to give back are pending.
 *
 * @param decision `release`: it gives all back. If a host is replaced for an error, the grace of others begins at `now`
 * @returns `undefined` if its status says so already
 */
export function planRecord(
  { status: { hosts = [] } = {}, ...cluster }: SipCluster,
  decision: Pick<Schedule, "add" | "giveBack" | "keep"> | "release",
  index: Pick<HostIndex, "find" | "findFacts">,
  now: string,
): readonly HostStatus[] | undefined {
  const key = toKey(cluster);
  const { keep, add, giveBack } = decision === "release" ? NOTHING : decision;
  const kept = new Map(keep.map((one) => [one.host, one]));
  const given = new Set(giveBack.map(({ host }) => host));
  const replaced = new Set(giveBack.flatMap(({ role, why }) => (why === IN_ERROR ? role : [])));
  const own = hosts.filter((one) => index.findFacts(toKeyOf(one))?.assigned?.cluster === key);
  const next = own.map((one): HostStatus => {
    if (decision === "release" || given.has(toKeyOf(one))) return { ...one, pending: true };
    const isFixed = index.findFacts(toKeyOf(one))?.isUntouchable === true;
    const { role, standby } = (isFixed ? undefined : kept.get(toKeyOf(one))) ?? one;
    const waits = one.errorSince !== undefined && replaced.has(one.role);
    return { ...one, role, standby, ...(waits && { errorSince: now }) };
  });
  const added = add.flatMap((one) => {
    const host = index.find(one.host);
    return host ? { ...toRecorded(host, one), pending: true } : [];
  });
  const record = sort([...next, ...added]);
  return isDeepStrictEqual(record, hosts) ? undefined : record;
}

const NOTHING = { keep: [], add: [], giveBack: [] };

/** The record of a cluster whose last process ended while labels were written; `undefined` if nothing is pending. */
export function settleRecord(
  { status: { hosts = [] } = {}, ...cluster }: SipCluster,
  index: Pick<HostIndex, "findFacts">,
): readonly HostStatus[] | undefined {
  if (!hosts.some(({ pending }) => pending)) return undefined;
  const key = toKey(cluster);
  return hosts
    .filter((one) => !one.pending || index.findFacts(toKeyOf(one))?.assigned?.cluster === key)
    .map(({ pending: _pending, ...host }) => host);
}

/** What happened to a host of a cluster, and not by Landfall. */
export interface Loss {
  readonly host: Key;
  readonly kind: "doubtful" | "gone" | "paused" | "unlabelled";
}

/** The hosts of a record that are gone, or lack the labels of the cluster; some cannot get them back. */
export function listLost(
  { status, ...cluster }: SipCluster,
  index: Pick<HostIndex, "find" | "findFacts">,
): readonly Loss[] {
  const recorded = (status?.hosts ?? []).filter(
    ({ pending, uid }) => !pending && uid !== undefined,
  );
  return recorded.flatMap((one): Loss[] => {
    const host = toKeyOf(one);
    const { labels = {}, isUntouchable = false, isDoubtful } = index.findFacts(host) ?? {};
    if (index.find(host)?.metadata.uid !== one.uid) return [{ host, kind: "gone" }];
    const isWhole = isLabelledAs(labels, { ...one, cluster: toKey(cluster) });
    const kind = isDoubtful ? "doubtful" : isUntouchable ? "paused" : "unlabelled";
    return isWhole ? [] : [{ host, kind }];
  });
}

/** Whether a status only names a host: an earlier version wrote it, which read the labels of hosts. */
function isOnlyNamed({ uid }: HostStatus): boolean {
  return uid === undefined;
}

/** Whether the original operator wrote a status: of all conditions, it knew only Ready. Landfall always writes more. */
function isOfSip(status: SipClusterStatus = {}): boolean {
  const { conditions = [], hosts, observedGeneration } = status;
  return (
    hosts === undefined &&
    observedGeneration === undefined &&
    conditions.length > 0 &&
    conditions.every(({ type }) => type === "Ready")
  );
}

/** Whether the original operator had hosts for a cluster. Landfall's own status says so until they may be recorded. */
function hadHostsOfSip(status: SipClusterStatus | undefined): boolean {
  const ready = findCondition(status, "Ready");
  const isBlocked = ready?.reason === CONDITION_WORDS.Ready.hostNamespaces.reason;
  return (
    status?.hosts === undefined && (isBlocked || (isOfSip(status) && ready?.status === "True"))
  );
}

function describeForeign(hosts: readonly Key[]): string {
  const namespaces = [...new Set(hosts.map(toNamespace))].toSorted();
  const what = "have the labels of this SIPCluster, and their namespace is not allowed";
  const allow = `If it should have them, add to --${HOST_NAMESPACES_FLAG.name}: ${nameSome(namespaces)}`;
  return `BareMetalHosts ${nameSome(hosts)} ${what}. ${allow}. If not, remove their labels. Landfall changes nothing`;
}

function toRecorded(
  { metadata: { uid = "", namespace = "", name } }: BareMetalHost,
  { role, standby }: Pick<HostStatus, "role" | "standby">,
  before?: HostStatus,
): HostStatus {
  return { addresses: [], ...before, uid, namespace, name, role, standby };
}

function sort(hosts: readonly HostStatus[]): readonly HostStatus[] {
  return hosts.toSorted((one, other) => byKey({ key: toKeyOf(one) }, { key: toKeyOf(other) }));
}

function toKeyOf(metadata: HostStatus): Key {
  return toKey({ metadata });
}

function toNamespace(key: Key): string {
  return key.slice(0, key.indexOf("/"));
}
