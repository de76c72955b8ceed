/**
 * Kubernetes' labels and names: their syntax, who owns a label key, selectors, and names of a limited length.
 * @module
 */
import { createHash } from "node:crypto";

const NAME = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;

/** Longest label value, name part of a key, DNS label and name of a Service, in characters. */
export const LABEL_LENGTH_MAX = 63;

/** What the API server accepts as a label value, in words. */
export const LABEL_VALUE_FORM =
  'a label value: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';

/** Whether the API server accepts this as a label key: an optional DNS subdomain, a slash, a name. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  if (name.length > LABEL_LENGTH_MAX || !NAME.test(name)) return false;
  return prefix === undefined || isSubdomain(prefix);
}

/** Whether the API server accepts this as a label value; the empty string is one. */
export function isLabelValue(value: string): boolean {
  return value === "" || (value.length <= LABEL_LENGTH_MAX && NAME.test(value));
}

/**
 * Turns any text into a label value: everything but ASCII letters, digits, `-`, `_` and `.` becomes `-`, the rest is
 * cut to 63 characters, and then trimmed at both ends to a letter or digit. May be empty.
 */
export function toLabelValue(text: string): string {
  return text
    .replaceAll(/[^-A-Za-z0-9_.]/gu, "-")
    .replace(/^[-_.]+/, "")
    .slice(0, LABEL_LENGTH_MAX)
    .replace(/[-_.]+$/, "");
}

/** Every label and annotation that Landfall creates begins with this. MUST NOT CHANGE: clusters contain it. */
export const OWN_PREFIX = "landfall.dev/";

/** Domains of Kubernetes. They own their subdomains, too. */
const KUBERNETES = ["kubernetes.io", "k8s.io"];
/** Domains whose labels a kubelet may set: the list of the admission plugin NodeRestriction. */
const KUBELET = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/** Labels in those domains that only the cloud sets. */
const OF_CLOUD = "node.kubernetes.io/instance-type";

/**
 * Whether only Kubernetes, the cloud or Landfall may set this label on a Node: the labels that the admission plugin
 * NodeRestriction forbids to a kubelet, those of region, zone, type, host name and platform, and `landfall.dev/`.
 */
export function isReservedLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash < 0) return false;
  const namespace = key.slice(0, slash);
  if (isWithin(namespace, [OWN_PREFIX.slice(0, -1)])) return true;
  if (!isWithin(namespace, KUBERNETES)) return false;
  return !isWithin(namespace, KUBELET) || key === OF_CLOUD;
}

/** Whether a domain is one of these, or a subdomain of one. */
export function isWithin(domain: string, parents: readonly string[]): boolean {
  return parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
}

const SUBDOMAIN_LENGTH_MAX = 253;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Whether this is a DNS subdomain in lower case (RFC 1123), as names of Nodes, Leases and Events are. */
export function isSubdomain(text: string): boolean {
  return text.length <= SUBDOMAIN_LENGTH_MAX && SUBDOMAIN.test(text);
}

/** Whether a text can be the name of a Namespace. */
export function isNamespace(text: string): boolean {
  return text.length <= LABEL_LENGTH_MAX && !text.includes(".") && isSubdomain(text);
}

/** Every namespace, in a list of namespaces. */
export const EVERY_NAMESPACE = "*";

/** Whether a text can be part of a list of namespaces. */
export function isNamespaceOrAll(text: string): boolean {
  return text === EVERY_NAMESPACE || isNamespace(text);
}

/** One condition. Without values, the key alone counts. As in Kubernetes, a missing label fulfils a negated one. */
export interface Requirement {
  readonly key: string;
  readonly isNegated: boolean;
  readonly values?: ReadonlySet<string>;
}

/** All conditions must hold. An empty selector matches everything. */
export type LabelSelector = readonly Requirement[];

/** The form, in words. */
export const LABEL_SELECTOR_FORM: string =
  'a label selector of "key", "!key", "key=value", "key==value", "key!=value", "key in (a, b)" and ' +
  '"key notin (a, b)", with a comma between them and without ">" and "<", ' +
  'for example "!example.com/bare-metal" or "pool in (a, b),disk!=hdd"';

const SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const EXISTENCE = /^(!?)\s*([^\s=!,()]+)$/;

/** Parses a selector; `undefined` if it is empty or is none. */
export function parseLabelSelector(text: string): LabelSelector | undefined {
  const selector: Requirement[] = [];
  for (const part of splitOutsideBrackets(text)) {
    const requirement = parsePart(part.trim());
    if (requirement === undefined || !isValid(requirement)) return undefined;
    selector.push(requirement);
  }
  return selector;
}

/** Whether these labels fulfil a selector. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return selector.every(({ key, isNegated, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    const isFound = value !== undefined && (values?.has(value) ?? true);
    return isFound !== isNegated;
  });
}

/** Splits at commas. An expression that looks for the bracket behind each comma would take quadratic time. */
function splitOutsideBrackets(text: string): readonly string[] {
  const parts: string[] = [];
  let isInside = false;
  for (const piece of text.split(",")) {
    parts.push(isInside ? `${parts.pop()},${piece}` : piece);
    if (/[()]/.test(piece)) isInside = piece.lastIndexOf("(") > piece.lastIndexOf(")");
  }
  return parts;
}

function parsePart(part: string): Requirement | undefined {
  const [, setKey, operator, list = ""] = SET.exec(part) ?? [];
  if (setKey !== undefined) {
    const values = list.split(",").map((value) => value.trim());
    return { key: setKey, isNegated: operator === "notin", values: new Set(values) };
  }
  const [, key, sign, value = ""] = EQUALITY.exec(part) ?? [];
  if (key !== undefined) return { key, isNegated: sign === "!=", values: new Set([value]) };
  const [, not, bare] = EXISTENCE.exec(part) ?? [];
  return bare === undefined ? undefined : { key: bare, isNegated: not === "!" };
}

function isValid({ key, values = new Set() }: Requirement): boolean {
  return isLabelKey(key) && [...values].every(isLabelValue);
}

const HASH_LENGTH = 8;

/** The start of the SHA-256 of a content, 16 hexadecimal digits. */
export function hashContent(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/**
 * A text of at most 63 characters that ends in a hash of a name. Frozen: objects in clusters have such names.
 *
 * @param text What stands before the hash; its end is cut off
 */
export function appendHash(text: string, name: string): string {
  const start = text.slice(0, LABEL_LENGTH_MAX - HASH_LENGTH - 1).replace(/[-.]+$/, "");
  return `${start}-${hashContent(name).slice(0, HASH_LENGTH)}`;
}

/** A name of at most 63 characters: the name itself, or its start and a hash. Frozen. */
export function shortenName(name: string): string {
  return name.length <= LABEL_LENGTH_MAX ? name : appendHash(name, name);
}
