/**
 * Decides which addresses a Service inherits: Landfall took them for another Service, which is gone. Pure,
 * except that it asks {@linkcode View.findHolder}.
 *
 * Several Services may name one address, and only the one that it was taken for is in its tags. The tags stay when that
 * one goes, so the last Service that uses the address releases it.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerOwner,
} from "../../../../cloud/capabilities/load_balancers.ts";
import { parseIp } from "../../../../core/net/ip.ts";
import type { KeptRecord } from "../record.ts";
import { parseRuleName, toLbName } from "../rule_names.ts";
import type { PublicAddress, Rule, View } from "../view.ts";
import { isOfCluster, TAG_KEYS } from "../words.ts";

/** What says which addresses a Service uses. */
interface Uses {
  readonly view: View;
  readonly claim: LoadBalancerClaim;
  readonly record?: KeptRecord;
  /** Its rules. */
  readonly rules: readonly Rule[];
}

type Tags = PublicAddress["tags"];

/** Whether tags name another Service of this cluster than the one with this UID. */
export function isOfSibling(
  { clusterIds }: Pick<View, "clusterIds">,
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
  view: Pick<View, "clusterIds" | "findHolder">,
  tags: Tags,
  uid: string,
): boolean {
  if (view.findHolder === undefined || !isOfSibling(view, tags, uid)) return false;
  const owner = tags.get(TAG_KEYS.serviceUid);
  return view.findHolder((one) => one === owner)?.isLeaving ?? true;
}

/** The IDs of the addresses that a Service inherits: it names them, or has rules on them, or its record names them. */
export function listInherited(uses: Uses): ReadonlySet<string> {
  const { view, claim, record, rules } = uses;
  const ruled = new Set(rules.map(({ addressId }) => addressId));
  const named = findNamed(claim);
  const all = [...view.addresses.values()].filter(
    ({ id, ip, tags }) =>
      (ruled.has(id) || ip === record?.shared || ip === named) &&
      isLeftBehind(view, tags, claim.owner.uid),
  );
  return new Set(all.map(({ id }) => id));
}

/** Whether a Service names an address in `spec.loadBalancerIP`. */
export function isNamed(claim: LoadBalancerClaim, { ip }: PublicAddress): boolean {
  return findNamed(claim) === ip;
}

function findNamed({ address }: LoadBalancerClaim): string | undefined {
  return address === undefined ? undefined : parseIp(address)?.text;
}

/** The Service that a rule is for, by its name, if Kubernetes has it. */
export function findOwner({ findHolder }: View, { name }: Rule): LoadBalancerOwner | undefined {
  const { lbName } = parseRuleName(name) ?? {};
  if (lbName === undefined) return undefined;
  return findHolder?.((uid) => toLbName(uid) === lbName)?.owner;
}

/** How messages name a Service. */
export function describeOwner({ namespace, name }: LoadBalancerOwner): string {
  return `Service ${namespace}/${name}`;
}
