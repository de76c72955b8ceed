/**
 * What an observation shows that belongs to one Service, and who may use each address. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerHolder,
  LoadBalancerOwner,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import {
  type AskedAddress,
  findUnsigned,
  type KeptRecord,
  parseRecord,
  withoutJobs,
} from "./record.ts";
import {
  findKeptFor,
  isOfCluster,
  isTagged,
  isTaggedFor,
  parseLbName,
  TAG_KEYS,
  toLbName,
} from "./words.ts";
import { readAddress } from "./desired.ts";
import type { Change, Step } from "./steps.ts";
import { listRulesOn, type Observation, type PublicAddress, type Rule } from "./observation.ts";
import { parseIp } from "../../../core/net/ip.ts";
import {
  type AddressHost,
  admits,
  explainRefusal,
  parseWord,
  toHost,
} from "../../../cloud/address_sharing.ts";

/** What an observation shows of the load balancer of one Service. */
export interface Current {
  readonly cloud: Observation;
  readonly claim: LoadBalancerClaim;
  readonly lbName: string;
  /** What the record says of what is open, which is only a hint. */
  readonly record?: KeptRecord;
  /** An address that a record names which Landfall did not sign: it counts for nothing. */
  readonly unsigned?: AskedAddress;
  /** IDs of the VMs of Nodes that must get no traffic. */
  readonly excludedIds?: ReadonlySet<string>;
  /** Rules of the Service, on any address, by port and ID. */
  readonly rules: readonly Rule[];
  /** IDs of the addresses that were taken for another Service, which is gone, and that this one uses. */
  readonly inherited: ReadonlySet<string>;
}

const NO_JOBS: ReadonlySet<string> = new Set();

/** Finds what an observation shows of a Service. */
export function toCurrent(
  cloud: Observation,
  claim: LoadBalancerClaim & Pick<LoadBalancerSpec, "excludedInstanceIds">,
): Current {
  const lbName = toLbName(claim.owner.uid);
  const written = [claim.record, claim.owner.uid, cloud.recordSigner] as const;
  const record = withoutJobs(parseRecord(...written), cloud.endedJobs ?? NO_JOBS);
  const unsigned = findUnsigned(...written);
  const rules = [...cloud.rules.values()]
    .filter((one) => isNameOf(lbName, one.name))
    .toSorted((a, b) => a.publicPort - b.publicPort || (a.id < b.id ? -1 : 1));
  const { excludedInstanceIds } = claim;
  return {
    cloud,
    claim,
    lbName,
    ...(excludedInstanceIds && { excludedIds: excludedInstanceIds }),
    ...(record && { record }),
    ...(unsigned && { unsigned }),
    rules,
    inherited: listInherited({ cloud, claim, rules, ...(record && { record }) }),
  };
}

/** Whether a rule belongs to a load balancer, by its name. */
export function isNameOf(lbName: string, ruleName: string): boolean {
  return ruleName.startsWith(`${lbName}-`) && parseLbName(ruleName) === lbName;
}

/** Whether an address is proven to be of the Service: its tags say so. */
export function isOwn({ cloud, claim }: Current, { tags }: PublicAddress): boolean {
  return isTaggedFor(tags, cloud.clusterIds, claim.owner.uid);
}

/** Whether an address is the Service's own, or became so because the Service that it was taken for is gone. */
export function isOwnOrInherited(current: Current, address: PublicAddress): boolean {
  return isOwn(current, address) || current.inherited.has(address.id);
}

/** Whether an address is of another Service, of this or another cluster. */
export function isOfAnother(current: Current, address: PublicAddress): boolean {
  return isTagged(address.tags) && !isOwn(current, address);
}

/** The rules of the Service on an address. */
export function listOwnRules({ rules }: Current, addressId: string): readonly Rule[] {
  return rules.filter((one) => one.addressId === addressId);
}

/** The load-balancer rules of others on an address. */
export function listForeignRules(current: Current, addressId: string): readonly Rule[] {
  return listRulesOn(current.cloud, addressId).filter((one) => !isNameOf(current.lbName, one.name));
}

/** Protocol of the packets of a rule. */
export function toIpProtocol({ protocol }: Pick<Rule, "protocol">): "tcp" | "udp" {
  return protocol === "udp" ? "udp" : "tcp";
}

/** What firewalls and ACLs see of a rule. */
export function toAccessPort(rule: Rule): { ipProtocol: "tcp" | "udp"; publicPort: number } {
  return { ipProtocol: toIpProtocol(rule), publicPort: rule.publicPort };
}

/** Whether an object is on its way out: it blocks what it blocked, and is worth nothing any more. */
export function isGoing({ state }: { readonly state: string }): boolean {
  return /^(Revoke|Deleting|Releasing)$/i.test(state);
}

/** Steps for one part of the load balancer: if one fails, other parts go on. */
export function inPart(part: string, steps: readonly Step[]): readonly Step[] {
  return steps.map((one) => ({ ...one, part }));
}

/** The part of a load balancer that a rule is, see {@linkcode inPart}. */
export function toPart({ publicPort, addressId }: Pick<Rule, "addressId" | "publicPort">): string {
  return `port ${publicPort} of ${addressId}`;
}

/** Writes a step of the Service. @param lock The network in which CloudStack does one change at a time */
export function toStep(current: Current, summary: string, change: Change, lock?: string): Step {
  const { cloud, claim, record } = current;
  const network = lock === undefined ? undefined : cloud.networks.get(lock);
  return {
    summary,
    ...(lock !== undefined && { lock }),
    ...(network && { lockName: `network ${network.name}` }),
    change,
    ...(record && { record }),
    owner: claim.owner satisfies LoadBalancerOwner,
  };
}

/** What says which addresses a Service uses. */
interface Uses {
  readonly cloud: Observation;
  readonly claim: LoadBalancerClaim;
  readonly record?: KeptRecord;
  /** Its rules. */
  readonly rules: readonly Rule[];
}

type Tags = PublicAddress["tags"];

/** Whether tags name another Service of this cluster than the one with this UID. */
export function isOfSibling(
  { clusterIds }: Pick<Observation, "clusterIds">,
  tags: Tags,
  uid: string,
): boolean {
  const owner = tags.get(TAG_KEYS.serviceUid);
  return owner !== undefined && owner !== uid && isOfCluster(tags, clusterIds);
}

/**
 * Whether tags name another Service of this cluster that has no load balancer any more, or is losing it. One that is
 * losing it counts, so that of several Services that go at the same time, the last one releases the address: the first
 * one may have gone because it saw the rules of the last.
 */
export function isLeftBehind(
  cloud: Pick<Observation, "clusterIds" | "findHolder">,
  tags: Tags,
  uid: string,
): boolean {
  if (cloud.findHolder === undefined || !isOfSibling(cloud, tags, uid)) return false;
  const owner = tags.get(TAG_KEYS.serviceUid);
  return cloud.findHolder((one) => one === owner)?.isLeaving ?? true;
}

/**
 * The IDs of the addresses that a Service inherits: it has rules on them, or its record names them, or it names them
 * and may use them.
 */
export function listInherited(uses: Uses): ReadonlySet<string> {
  const { cloud, claim, record, rules } = uses;
  const ruled = new Set(rules.map(({ addressId }) => addressId));
  const all = [...cloud.addresses.values()].filter(
    (address) =>
      (ruled.has(address.id) || address.ip === record?.shared || isNamed(uses, address)) &&
      isLeftBehind(cloud, address.tags, claim.owner.uid),
  );
  return new Set(all.map(({ id }) => id));
}

/** Whether a Service names an address, and may use it: then that alone says that it does. */
export function isNamed(
  { cloud, claim }: Pick<Current, "claim" | "cloud">,
  address: PublicAddress,
): boolean {
  return findNamed(claim) === address.ip && explainUse(cloud, claim, address) === undefined;
}

function findNamed(claim: LoadBalancerClaim): string | undefined {
  const address = readAddress(claim);
  return address === undefined ? undefined : parseIp(address)?.text;
}

/** How messages name a Service. */
export function describeOwner({ namespace, name }: LoadBalancerOwner): string {
  return `Service ${namespace}/${name}`;
}

/** What says who uses an address. */
type Known = Pick<
  Observation,
  "claims" | "clusterIds" | "findHolder" | "listSharingRules" | "rules"
>;

/** The Service that a rule is for, by its name, if Kubernetes has it. */
export function findRuleHolder(
  { findHolder }: Pick<Known, "findHolder">,
  { name }: Pick<Rule, "name">,
): LoadBalancerHolder | undefined {
  const lbName = parseLbName(name);
  if (lbName === undefined) return undefined;
  return findHolder?.((uid) => toLbName(uid) === lbName);
}

/** Whether the status of a Service shows an address. */
export function isShown({ ingress }: Pick<LoadBalancerClaim, "ingress">, ip: string): boolean {
  return ingress.some((one) => "ip" in one && one.ip === ip);
}

/** Why a Service may not take a free address: the operator gives it only to other namespaces. */
export function explainFree(
  { listSharingRules }: Partial<Pick<Known, "listSharingRules">>,
  { owner: { namespace } }: Pick<LoadBalancerClaim, "owner">,
  ip: string,
): string | undefined {
  return explainRefusal({ ip, namespace, rules: listSharingRules?.() ?? [] });
}

/** Who has an address beside a Service, and why their word is missing. `undefined`: it was taken for the Service. */
function findUse(
  cloud: Known,
  { owner: { namespace, uid } }: LoadBalancerClaim,
  address: PublicAddress,
):
  | {
      readonly users: readonly LoadBalancerClaim[];
      readonly first: readonly AddressHost[];
      explain(hosts: readonly AddressHost[]): string | undefined;
    }
  | undefined {
  const { ip, tags } = address;
  if (isTaggedFor(tags, cloud.clusterIds, uid)) return undefined;
  const users = listUsers(cloud, address);
  const rules = cloud.listSharingRules?.() ?? [];
  return {
    users,
    first: listFirst(cloud, address, users, namespace),
    explain: (hosts) => explainRefusal({ ip, namespace, hosts, rules }),
  };
}

/**
 * Why a Service may not use an address, see {@linkcode explainRefusal}.
 *
 * One that was taken for it, it may always use. Who came onto an address later keeps it from no Service that has it
 * already, nor from the namespace that it was taken for: these need at most the word of whom it was taken for.
 */
export function explainUse(
  cloud: Known,
  claim: LoadBalancerClaim,
  address: PublicAddress,
): string | undefined {
  const use = findUse(cloud, claim, address);
  if (use === undefined) return undefined;
  const { users, first, explain } = use;
  const isOfFirst = first.some(({ owner }) => owner.namespace === claim.owner.namespace);
  const isNew = !isOfFirst && !isOn(cloud, claim, address);
  return explain(isNew ? [...first, ...users.map(toHost)] : first);
}

/**
 * Why a Service would not come onto an address any more that no Service comes first on, and that it has: another one
 * has it, too, and neither gave its word.
 */
export function explainSharing(
  cloud: Known,
  claim: LoadBalancerClaim,
  address: PublicAddress,
): string | undefined {
  const use = findUse(cloud, claim, address);
  if (use === undefined || use.first.length > 0) return undefined;
  const own = toHost(claim);
  return use.explain(use.users.map(toHost).filter((one) => !admits(own, one.owner.namespace)));
}

/** Whether the Service that an address was taken for is losing its load balancer, and with it the address. */
export function isEnding({ clusterIds, findHolder }: Known, { tags }: PublicAddress): boolean {
  const uid = tags.get(TAG_KEYS.serviceUid);
  return isOfCluster(tags, clusterIds) && findHolder?.((one) => one === uid)?.isLeaving === true;
}

/** The rules on an address of Services that may not use it, each with its Service. */
export function listUnshared(
  cloud: Known,
  address: PublicAddress,
  explain: typeof explainUse = explainUse,
): readonly { readonly rule: Rule; readonly claim: LoadBalancerClaim; readonly why: string }[] {
  return listRulesOn(cloud, address.id).flatMap((rule) => {
    const { claim } = findRuleHolder(cloud, rule) ?? {};
    const why = claim && explain(cloud, claim, address);
    return claim === undefined || why === undefined ? [] : [{ rule, claim, why }];
  });
}

/** Whether a Service has an address: it has rules on it, or its status shows it. */
function isOn(cloud: Known, claim: LoadBalancerClaim, { id, ip }: PublicAddress): boolean {
  const lbName = toLbName(claim.owner.uid);
  return isShown(claim, ip) || listRulesOn(cloud, id).some(({ name }) => isNameOf(lbName, name));
}

/** The Services that have an address. One may be there several times. */
function listUsers(cloud: Known, { id, ip }: PublicAddress): readonly LoadBalancerClaim[] {
  const ruling = listRulesOn(cloud, id).flatMap((rule) => findRuleHolder(cloud, rule)?.claim ?? []);
  return [...ruling, ...[...(cloud.claims?.() ?? [])].filter((one) => isShown(one, ip))];
}

/**
 * Who gives the word before all others who have an address: the Service that it was taken for. If that is gone, or the
 * address is kept, the word that it left, or that of the Services of its namespace that have the address.
 */
function listFirst(
  cloud: Known,
  { tags }: PublicAddress,
  users: readonly LoadBalancerClaim[],
  namespace: string,
): readonly AddressHost[] {
  const isKept = findKeptFor(tags) !== undefined;
  const uid = isOfCluster(tags, cloud.clusterIds) ? tags.get(TAG_KEYS.serviceUid) : undefined;
  if (!isKept && (uid === undefined || cloud.findHolder === undefined)) return [];
  const holder = isKept ? undefined : cloud.findHolder?.((one) => one === uid);
  if (holder !== undefined) return [toHost(holder.claim)];
  const gone = parseHost(tags);
  if (gone === undefined) return [];
  const heirs = users.filter(({ owner }) => owner.namespace === gone.owner.namespace);
  return heirs.length === 0 || admits(gone, namespace) ? [gone] : heirs.map(toHost);
}

/** The Service that is gone, as the tags describe it; `undefined` if they do not. */
function parseHost(tags: PublicAddress["tags"]): AddressHost | undefined {
  const keptFor = findKeptFor(tags);
  const [before, name = keptFor && "?"] = tags.get(TAG_KEYS.service)?.split("/") ?? [];
  const namespace = keptFor ?? before;
  if (!namespace || !name) return undefined;
  const word = parseWord(tags.get(TAG_KEYS.sharedWith));
  return { owner: { namespace, name }, word, isGone: true };
}

/** The most that CloudStack keeps of a tag, in characters. */
const TAG_CHARS_MAX = 255;

/** The word of a Service as a tag; `undefined` if it gives none. Without the namespaces that do not fit. */
export function toWordTag(claim: LoadBalancerClaim): string | undefined {
  let text = "";
  for (const one of toHost(claim).word) {
    const longer = text === "" ? one : `${text},${one}`;
    if (longer.length <= TAG_CHARS_MAX) text = longer;
  }
  return text === "" ? undefined : text;
}
