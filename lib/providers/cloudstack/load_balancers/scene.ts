/**
 * What a look shows that belongs to one Service, and how its steps are written. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
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
import { isOfCluster, isTagged, isTaggedFor, parseRuleName, TAG_KEYS, toLbName } from "./words.ts";
import { readAddress } from "./desired.ts";
import type { Change, Step } from "./steps.ts";
import { explainUse } from "./host.ts";
import { listRulesOn, type PublicAddress, type Rule, type Observation } from "./observation.ts";
import { parseIp } from "../../../core/net/ip.ts";

/** A look from the side of one Service. */
export interface Scene {
  readonly view: Observation;
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

/** Finds what a look shows of a Service. */
export function toScene(
  view: Observation,
  claim: LoadBalancerClaim & Pick<LoadBalancerSpec, "excludedInstanceIds">,
): Scene {
  const lbName = toLbName(claim.owner.uid);
  const written = [claim.record, claim.owner.uid, view.recordSigner] as const;
  const record = withoutJobs(parseRecord(...written), view.endedJobs ?? NO_JOBS);
  const unsigned = findUnsigned(...written);
  const rules = [...view.rules.values()]
    .filter((one) => isNameOf(lbName, one.name))
    .toSorted((a, b) => a.publicPort - b.publicPort || (a.id < b.id ? -1 : 1));
  const { excludedInstanceIds } = claim;
  return {
    view,
    claim,
    lbName,
    ...(excludedInstanceIds && { excludedIds: excludedInstanceIds }),
    ...(record && { record }),
    ...(unsigned && { unsigned }),
    rules,
    inherited: listInherited({ view, claim, rules, ...(record && { record }) }),
  };
}

/** Whether a rule belongs to a load balancer, by its name. */
export function isNameOf(lbName: string, ruleName: string): boolean {
  return ruleName.startsWith(`${lbName}-`) && parseRuleName(ruleName)?.lbName === lbName;
}

/** Whether an address is proven to be of the Service: its tags say so. */
export function isOwn({ view, claim }: Scene, { tags }: PublicAddress): boolean {
  return isTaggedFor(tags, view.clusterIds, claim.owner.uid);
}

/** Whether an address is the Service's own, or became so because the Service that it was taken for is gone. */
export function isOwnOrInherited(scene: Scene, address: PublicAddress): boolean {
  return isOwn(scene, address) || scene.inherited.has(address.id);
}

/** Whether an address is of another Service, of this or another cluster. */
export function isOfAnother(scene: Scene, address: PublicAddress): boolean {
  return isTagged(address.tags) && !isOwn(scene, address);
}

/** The rules of the Service on an address. */
export function listOwnRules({ rules }: Scene, addressId: string): readonly Rule[] {
  return rules.filter((one) => one.addressId === addressId);
}

/** The load-balancer rules of others on an address. */
export function listForeignRules(scene: Scene, addressId: string): readonly Rule[] {
  return listRulesOn(scene.view, addressId).filter((one) => !isNameOf(scene.lbName, one.name));
}

/** Protocol of the packets of a rule. */
export function toIpProtocol({ protocol }: Pick<Rule, "protocol">): "tcp" | "udp" {
  return protocol === "udp" ? "udp" : "tcp";
}

/** What firewalls and ACLs see of a rule. */
export function toGatePort(rule: Rule): { ipProtocol: "tcp" | "udp"; publicPort: number } {
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
export function toStep(scene: Scene, summary: string, change: Change, lock?: string): Step {
  const { claim, record } = scene;
  return {
    summary,
    ...(lock !== undefined && { lock }),
    change,
    ...(record && { record }),
    owner: claim.owner satisfies LoadBalancerOwner,
  };
}

/** What says which addresses a Service uses. */
interface Uses {
  readonly view: Observation;
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
  view: Pick<Observation, "clusterIds" | "findHolder">,
  tags: Tags,
  uid: string,
): boolean {
  if (view.findHolder === undefined || !isOfSibling(view, tags, uid)) return false;
  const owner = tags.get(TAG_KEYS.serviceUid);
  return view.findHolder((one) => one === owner)?.isLeaving ?? true;
}

/**
 * The IDs of the addresses that a Service inherits: it has rules on them, or its record names them, or it names them
 * and may use them.
 */
export function listInherited(uses: Uses): ReadonlySet<string> {
  const { view, claim, record, rules } = uses;
  const ruled = new Set(rules.map(({ addressId }) => addressId));
  const all = [...view.addresses.values()].filter(
    (address) =>
      (ruled.has(address.id) || address.ip === record?.shared || isNamed(uses, address)) &&
      isLeftBehind(view, address.tags, claim.owner.uid),
  );
  return new Set(all.map(({ id }) => id));
}

/** Whether a Service names an address, and may use it: then that alone says that it does. */
export function isNamed(
  { view, claim }: Pick<Scene, "claim" | "view">,
  address: PublicAddress,
): boolean {
  return findNamed(claim) === address.ip && explainUse(view, claim, address) === undefined;
}

function findNamed(claim: LoadBalancerClaim): string | undefined {
  const address = readAddress(claim);
  return address === undefined ? undefined : parseIp(address)?.text;
}

/** How messages name a Service. */
export function describeOwner({ namespace, name }: LoadBalancerOwner): string {
  return `Service ${namespace}/${name}`;
}
