/**
 * Keeps an address when its Service goes, and lists those that are kept. Pure.
 * @module
 */
import type {
  KeptAddress,
  LoadBalancerProblem,
} from "../../../cloud/capabilities/load_balancers.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import { quote } from "../../../core/text/printable.ts";
import { keepsAddress } from "./desired.ts";
import { listRulesOn, type Observation, type PublicAddress } from "./observation.ts";
import { mayTag, toTurn } from "./ownership.ts";
import { isOwn, type Scene, toStep } from "./scene.ts";
import type { Step } from "./steps.ts";
import type { PartPlan } from "./stickiness.ts";
import { ANNOTATIONS, findKeptFor, isOfCluster, TAG_KEYS, toNotice, toWaiting } from "./words.ts";

/** So many idle addresses a namespace keeps: who makes and deletes Services must not get all that the account has. */
const IDLE_MAX = 20;

/**
 * Plans to keep an address for later Services of the namespace; `undefined` if it goes. It is tagged before anything
 * else goes, and nothing ever removes the tag. A Service cannot keep what was taken for one of another namespace.
 *
 * @param removal What takes the Service off the address
 */
export function planKeepingAddress(
  scene: Scene,
  address: PublicAddress,
  removal: readonly Step[],
): PartPlan | undefined {
  const { annotations, owner } = scene.claim;
  const { tags, id, ip } = address;
  const isKept = findKeptFor(tags) !== undefined;
  if (isKept)
    return { steps: removal, problems: removal.length > 0 ? [toKeptFor(scene, address)] : [] };
  if (!keepsAddress(annotations)) return undefined;
  // It becomes the Service's own first.
  if (!isOwn(scene, address) && mayTag(scene, address)) return { steps: removal, problems: [] };
  const isOfNamespace = tags.get(TAG_KEYS.service)?.startsWith(`${owner.namespace}/`) ?? false;
  if (!isOwn(scene, address) && !isOfNamespace) return undefined;
  const idle = listKept(scene.view).filter(
    ({ namespace, rules }) => namespace === owner.namespace && rules === 0,
  );
  if (idle.length >= IDLE_MAX) {
    const has = `namespace ${quote(owner.namespace)} already keeps ${idle.length} addresses that no Service uses`;
    const instead = `remove the annotation ${ANNOTATIONS.keepAddress}`;
    const advice = `release one of those that landfall services --kept lists, or ${instead}`;
    const message = `public IP ${ip} cannot be kept: ${has}; ${advice}`;
    return { steps: [], problems: [toWaiting("AddressKept", message)] };
  }
  const kept = new Map([[TAG_KEYS.keptFor, owner.namespace]]);
  const change = { kind: "tagAddress" as const, addressId: id, tags: kept };
  const step = toStep(scene, `tag address ${ip} as kept`, change, toTurn(address));
  return { steps: [step, ...removal], problems: [toKeptFor(scene, address)] };
}

/** Says why an address stays. */
function toKeptFor({ claim: { owner } }: Scene, { ip, tags }: PublicAddress): LoadBalancerProblem {
  const namespace = quote(findKeptFor(tags) ?? owner.namespace);
  const whose = `a Service of namespace ${namespace} that names it`;
  const message = `public IP ${ip} is kept for ${whose}: Landfall never releases it`;
  return toNotice("AddressKept", message);
}

/** The addresses of this cluster that are kept, in order of their namespaces and IPs. */
export function listKept(
  view: Pick<Observation, "addresses" | "clusterIds" | "rules">,
): readonly KeptAddress[] {
  return [...view.addresses.values()]
    .flatMap(({ id, ip, tags }): KeptAddress[] => {
      const namespace = findKeptFor(tags);
      if (namespace === undefined || !isOfCluster(tags, view.clusterIds)) return [];
      const service = tags.get(TAG_KEYS.service);
      const rules = listRulesOn(view, id).length;
      return [{ ip, id, namespace, rules, ...(service !== undefined && { service }) }];
    })
    .toSorted((a, b) => (`${a.namespace} ${a.ip}` < `${b.namespace} ${b.ip}` ? -1 : 1));
}

/** What `landfall check` says about them. */
export function toKeptFindings(kept: readonly KeptAddress[]): Finding[] {
  if (kept.length === 0) return [];
  const named = kept.slice(0, NAMED_MAX).map(({ ip, namespace }) => `${ip} (${quote(namespace)})`);
  const more = kept.length > NAMED_MAX ? ", …" : "";
  const which = `${kept.length} public ${kept.length === 1 ? "IP is" : "IPs are"} kept for Services`;
  const message = `${which} of a namespace: ${named.join(", ")}${more}; landfall services --kept lists them`;
  return [{ level: "ok", code: "loadBalancerKept", message }];
}

/** More addresses than these are counted, and not named. */
const NAMED_MAX = 10;
