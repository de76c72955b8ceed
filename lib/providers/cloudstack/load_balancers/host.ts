/**
 * Which Service has a public IP address first, and which other Services may use it. Pure.
 *
 * The tags of an address decide: only users of the CloudStack account can write them. An address without tags is of a
 * person: of the Services with rules on it, `findFirst` finds the one.
 * @module
 */
import {
  type AddressHost,
  explainRefusal,
  findFirst,
  listWordNamespaces,
  readWord,
} from "../../../cloud/address_sharing.ts";
import type {
  LoadBalancerClaim,
  LoadBalancerHolder,
} from "../../../cloud/capabilities/load_balancers.ts";
import { listRulesOn, type Observation, type PublicAddress, type Rule } from "./observation.ts";
import {
  findKeptFor,
  isOfCluster,
  isTagged,
  isTaggedFor,
  parseRuleName,
  TAG_KEYS,
  toLbName,
} from "./words.ts";

/** What says who uses an address. */
type Known = Pick<Observation, "clusterIds" | "findHolder" | "listSharingRules" | "rules">;

/** The Service that a rule is for, by its name, if Kubernetes has it. */
export function findRuleHolder(
  { findHolder }: Pick<Known, "findHolder">,
  { name }: Pick<Rule, "name">,
): LoadBalancerHolder | undefined {
  const { lbName } = parseRuleName(name) ?? {};
  if (lbName === undefined) return undefined;
  return findHolder?.((uid) => toLbName(uid) === lbName);
}

/**
 * Why a Service may not use an address, see {@linkcode explainRefusal}. One that was taken for it, it may always use.
 */
export function explainUse(
  view: Known,
  { owner: { namespace, uid } }: Pick<LoadBalancerClaim, "owner">,
  address: PublicAddress,
): string | undefined {
  const { id, ip, tags } = address;
  if (isTaggedFor(tags, view.clusterIds, uid)) return undefined;
  const isAlone =
    !isTagged(tags) &&
    listRulesOn(view, id).every(({ name }) => parseRuleName(name)?.lbName === toLbName(uid));
  const host = isAlone ? undefined : findHost(view, address);
  return explainRefusal({ ip, namespace, host, rules: view.listSharingRules?.() ?? [] });
}

/** Whether the Service that an address was taken for is losing its load balancer, and with it the address. */
export function isEnding({ clusterIds, findHolder }: Known, { tags }: PublicAddress): boolean {
  const uid = tags.get(TAG_KEYS.serviceUid);
  return isOfCluster(tags, clusterIds) && findHolder?.((one) => one === uid)?.isLeaving === true;
}

/** The rules on an address of Services that may not use it, each with its Service. */
export function listUnshared(
  view: Known,
  address: PublicAddress,
): readonly { readonly rule: Rule; readonly claim: LoadBalancerClaim }[] {
  return listRulesOn(view, address.id).flatMap((rule) => {
    const { claim } = findRuleHolder(view, rule) ?? {};
    if (claim === undefined || explainUse(view, claim, address) === undefined) return [];
    return [{ rule, claim }];
  });
}

function findHost(view: Known, { id, tags }: PublicAddress): AddressHost | undefined {
  if (findKeptFor(tags) !== undefined) return parseHost(tags);
  const uid = isOfCluster(tags, view.clusterIds) ? tags.get(TAG_KEYS.serviceUid) : undefined;
  if (view.findHolder === undefined) return undefined;
  if (uid !== undefined) {
    const holder = view.findHolder((one) => one === uid);
    return holder === undefined ? parseHost(tags) : toHost(holder.claim);
  }
  const first = findFirst(
    listRulesOn(view, id).flatMap((rule) => findRuleHolder(view, rule)?.claim ?? []),
  );
  return first && toHost(first);
}

function toHost(claim: LoadBalancerClaim): AddressHost {
  return { owner: claim.owner, word: readWord(claim) };
}

/** The Service that is gone, as the tags describe it; `undefined` if they do not. */
function parseHost(tags: PublicAddress["tags"]): AddressHost | undefined {
  const keptFor = findKeptFor(tags);
  const [before, name = keptFor && "?"] = tags.get(TAG_KEYS.service)?.split("/") ?? [];
  const namespace = keptFor ?? before;
  if (!namespace || !name) return undefined;
  return { owner: { namespace, name }, word: tags.get(TAG_KEYS.sharedWith), isGone: true };
}

/** The most that CloudStack keeps of a tag, in characters. */
const TAG_CHARS_MAX = 255;

/** The word of a Service as a tag; `undefined` if it gives none. Without the namespaces that do not fit. */
export function toWordTag(claim: LoadBalancerClaim): string | undefined {
  let text = "";
  for (const one of listWordNamespaces(readWord(claim))) {
    const longer = text === "" ? one : `${text},${one}`;
    if (longer.length <= TAG_CHARS_MAX) text = longer;
  }
  return text === "" ? undefined : text;
}
