/**
 * What a look shows that belongs to one Service, and how its steps are written. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerOwner,
  LoadBalancerSpec,
} from "../../../../cloud/capabilities/load_balancers.ts";
import { listInherited } from "../reading/inheritance.ts";
import {
  type AskedAddress,
  findUnsigned,
  type KeptRecord,
  parseRecord,
  withoutJobs,
} from "../record.ts";
import { parseRuleName, toLbName } from "../rule_names.ts";
import type { Change, Step } from "../steps.ts";
import { listRulesOn } from "../reading/on_addresses.ts";
import type { PublicAddress, Rule, View } from "../view.ts";
import { isTagged, isTaggedFor } from "../words.ts";

/** A look from the side of one Service. */
export interface Scene {
  readonly view: View;
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
  view: View,
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
