/**
 * Whose an address is that Services of several namespaces want. The same for every cloud. Pure.
 *
 * Who wants to come onto an address needs the word of every Service of another namespace that has it: an annotation.
 * The word of an operator, in the settings, goes above it. Who has an address is decided by what no user of a namespace
 * can write: each cloud says how.
 * @module
 */
import { isInCidr } from "../core/net/ip.ts";
import { EVERY_NAMESPACE, isNamespaceOrAll } from "../core/text/label.ts";
import { quote } from "../core/text/printable.ts";
import { parseList } from "../core/text/values.ts";
import type {
  LoadBalancerClaim,
  LoadBalancerOwner,
  LoadBalancerProblem,
  SharingRule,
} from "./capabilities/load_balancers.ts";

/** Annotation of a Service that has an address. Frozen: users write it into clusters. */
export const SHARED_WITH = "landfall.dev/share-address-with";

/** The setting of the operator. */
const SETTING = "loadBalancers.sharing";

/** A Service that has an address. */
export interface AddressHost {
  readonly owner: Pick<LoadBalancerOwner, "name" | "namespace">;
  /** The namespaces with which it shares its address. */
  readonly word: readonly string[];
  /** Whether Kubernetes does not have it any more. @default {false} */
  readonly isGone?: boolean;
}

/** Who wants to use an address. */
interface AddressUse {
  readonly ip: string;
  readonly namespace: string;
  /** Those whose word it needs, unless they are of its own namespace. @default {none: the address is free} */
  readonly hosts?: readonly AddressHost[];
  readonly rules: readonly SharingRule[];
}

/** A Service that has an address, with its word. */
export function toHost({ owner, annotations }: LoadBalancerClaim): AddressHost {
  return { owner, word: parseWord(annotations[SHARED_WITH]) };
}

/** The namespaces in a word. None if a part of it cannot be one. */
export function parseWord(text = ""): readonly string[] {
  const namespaces = parseList(text);
  return namespaces.every(isNamespaceOrAll) ? namespaces : [];
}

/** Says that the word of a Service cannot be read. */
export function checkWord({
  annotations,
}: Pick<LoadBalancerClaim, "annotations">): readonly LoadBalancerProblem[] {
  const text = annotations[SHARED_WITH] ?? "";
  if (text === "" || parseWord(text).length > 0) return [];
  const wanted = `write names of namespaces with commas between them, or ${EVERY_NAMESPACE} for all`;
  const what = `annotation ${SHARED_WITH} has the value ${quote(text)}, which lets in no namespace`;
  return [{ reason: "InvalidAnnotation", message: `${what}: ${wanted}`, isWaiting: false }];
}

/** Whether a Service shares its address with a namespace. */
export function admits(
  { owner, word }: Pick<AddressHost, "owner" | "word">,
  namespace: string,
): boolean {
  return owner.namespace === namespace || includes(word, namespace);
}

/** Why a Service may not use an address, and whom to ask; no full stop. `undefined` if it may. */
export function explainRefusal({
  ip,
  namespace,
  hosts = [],
  rules,
}: AddressUse): string | undefined {
  const own = rules.filter(({ addresses }) => addresses.some((one) => isInCidr(ip, one)));
  if (own.length > 0) {
    if (own.some((rule) => isFor(rule, namespace))) return undefined;
    const what = `the settings give ${ip} to other namespaces than ${namespace}`;
    return `${what}: ask an operator to add it to ${SETTING}, or use another address`;
  }
  const host = hosts.find((one) => !admits(one, namespace));
  if (host === undefined) return undefined;
  const who = `Service ${host.owner.namespace}/${host.owner.name}`;
  const operator = `ask an operator to give it to the namespace ${namespace} in ${SETTING}`;
  if (host.isGone === true) {
    return `${ip} was taken for ${who}, which is gone: ${operator}, or use another address`;
  }
  const owner = `ask its owners to add the namespace ${namespace} to its annotation ${SHARED_WITH}`;
  return `${who} has ${ip} and does not share it: ${owner}, ${operator}, or use another address`;
}

/** Whether the operator gives the addresses of a rule to a namespace. */
export function isFor({ namespaces }: SharingRule, namespace: string): boolean {
  return includes(namespaces, namespace);
}

/** The release that ends what {@linkcode toUnsharedNotice} allows. */
const FLAG_DAY = "version 0.3";

/** A Service must wait, because it may not use an address. @param why See {@linkcode explainRefusal} */
export function toUnusable(why: string): LoadBalancerProblem {
  return { reason: "AddressNotUsable", message: why, isWaiting: true };
}

/** A Service has an address that it would not get any more. @param why See {@linkcode explainRefusal} */
export function toUnsharedNotice(
  why: string,
  then = `until ${FLAG_DAY}, this Service keeps what it has there, and gets nothing more`,
): LoadBalancerProblem {
  return { reason: "AddressNotShared", message: `${why}; ${then}`, isWaiting: false };
}

function includes(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.includes(namespace) || namespaces.includes(EVERY_NAMESPACE);
}
