/**
 * Whose an address is that Services of several namespaces want. The same for every cloud. Pure.
 *
 * The Service that has an address first gives its word with an annotation. The word of an operator, in the settings,
 * goes above it. Who has it first is decided by what no user of a namespace can write: each cloud says how.
 * @module
 */
import { isInCidr } from "../core/net/ip.ts";
import type {
  LoadBalancerClaim,
  LoadBalancerOwner,
  LoadBalancerProblem,
  SharingRule,
} from "./capabilities/load_balancers.ts";

/** Annotation of the Service that has an address first. Frozen: users write it into clusters. */
export const SHARED_WITH = "landfall.dev/share-address-with";

/** Every namespace. */
export const EVERY_NAMESPACE = "*";

/** The setting of the operator. */
const SETTING = "loadBalancers.sharing";

/** The Service that has an address first. */
export interface AddressHost {
  readonly owner: Pick<LoadBalancerOwner, "name" | "namespace">;
  /** The value of {@linkcode SHARED_WITH}. Absent: it gives no word. */
  readonly word?: string | undefined;
  /** Whether Kubernetes does not have it any more. @default {false} */
  readonly isGone?: boolean;
}

/** Who wants to use an address. */
interface AddressUse {
  readonly ip: string;
  readonly namespace: string;
  /** Absent: no Service has the address. */
  readonly host: AddressHost | undefined;
  readonly rules: readonly SharingRule[];
}

/** The word that a Service gives about its addresses. */
export function readWord({
  annotations,
}: Pick<LoadBalancerClaim, "annotations">): string | undefined {
  return Object.hasOwn(annotations, SHARED_WITH) ? annotations[SHARED_WITH] : undefined;
}

/** The namespaces in a word. */
export function listWordNamespaces(word = ""): readonly string[] {
  return word
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Why a Service may not use an address, and whom to ask; no full stop. `undefined` if it may. */
export function explainRefusal({ ip, namespace, host, rules }: AddressUse): string | undefined {
  const own = rules.filter(({ addresses }) => addresses.some((one) => isInCidr(ip, one)));
  if (own.length > 0) {
    if (own.some(({ namespaces }) => includes(namespaces, namespace))) return undefined;
    const what = `the settings give ${ip} to other namespaces than ${namespace}`;
    return `${what}: ask an operator to add it to ${SETTING}, or use another address`;
  }
  if (host === undefined || host.owner.namespace === namespace) return undefined;
  if (includes(listWordNamespaces(host.word), namespace)) return undefined;
  const who = `Service ${host.owner.namespace}/${host.owner.name}`;
  const operator = `ask an operator to give it to the namespace ${namespace} in ${SETTING}`;
  if (host.isGone === true) {
    return `${ip} was taken for ${who}, which is gone: ${operator}, or use another address`;
  }
  const owner = `ask its owners to add the namespace ${namespace} to its annotation ${SHARED_WITH}`;
  return `${who} has ${ip} and does not share it: ${owner}, ${operator}, or use another address`;
}

/** The release that ends what {@linkcode toUnsharedNotice} allows. */
const FLAG_DAY = "version 0.3";

/** A Service must wait, because it may not use an address. @param why See {@linkcode explainRefusal} */
export function toUnusable(why: string): LoadBalancerProblem {
  return { reason: "AddressNotUsable", message: why, isWaiting: true };
}

/** A Service has an address that it would not get any more. @param why See {@linkcode explainRefusal} */
export function toUnsharedNotice(why: string): LoadBalancerProblem {
  const then = `until ${FLAG_DAY}, this Service keeps what it has there, and gets nothing more`;
  return { reason: "AddressNotShared", message: `${why}; ${then}`, isWaiting: false };
}

/**
 * The one that has an address first, of Services that have it together and for which nothing better tells: the oldest,
 * because no user can change when a Service was created. An older one that another let in does not come before that.
 */
export function findFirst(claims: readonly LoadBalancerClaim[]): LoadBalancerClaim | undefined {
  const byAge = claims.toSorted(compareAges);
  const admitsAll = (one: LoadBalancerClaim): boolean => {
    const namespaces = [one.owner.namespace, ...listWordNamespaces(readWord(one))];
    return claims.every(({ owner }) => includes(namespaces, owner.namespace));
  };
  return byAge.find(admitsAll) ?? byAge[0];
}

function compareAges(one: LoadBalancerClaim, other: LoadBalancerClaim): number {
  const [a, b] = [one.createdAtMs ?? 0, other.createdAtMs ?? 0];
  return a - b || (one.owner.uid < other.owner.uid ? -1 : Number(one.owner.uid > other.owner.uid));
}

function includes(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.includes(namespace) || namespaces.includes(EVERY_NAMESPACE);
}
