/**
 * Labels and annotations of Landfall, and those that a user misspelt: they have no effect. Pure.
 * @module
 */
import { OWN_PREFIX } from "../core/text/label.ts";
import { findClosest } from "../core/text/edit_distance.ts";
import { quote } from "../core/text/printable.ts";

/** All names after the prefix, on objects of any kind; a test compares them with the code. */
const OWN_NAMES: readonly string[] = [
  "address-pool",
  "boot-override",
  "config-hash",
  "confirm-removal",
  "exclude-from-out-of-service",
  "force-release",
  "gone-pools",
  "keep-address",
  "labels-from-tags",
  "labels-from-vino",
  "load-balancer",
  "load-balancer-ips",
  "load-balancer-node-selector",
  "machine",
  "machine-id",
  "out-of-service",
  "publish-moved-hosts",
  "reboot-request",
  "share-address-with",
  "shared-address",
  "sip-cluster",
  "sip-service",
  "vino-uid",
  "without-metal3",
];

/** What of an object matters. */
interface Keyed {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Says which labels and annotations Landfall does not know, and which were probably meant. `undefined`: none. */
export function describeUnknownKeys({ labels, annotations }: Keyed): string | undefined {
  const problems = [
    ...listUnknown(labels).map((key) => explain("label", key)),
    ...listUnknown(annotations).map((key) => explain("annotation", key)),
  ];
  return problems.length === 0 ? undefined : problems.join("; ");
}

function listUnknown(texts: Readonly<Record<string, string>> = {}): string[] {
  return Object.keys(texts).filter(
    (key) => key.startsWith(OWN_PREFIX) && !OWN_NAMES.includes(key.slice(OWN_PREFIX.length)),
  );
}

function explain(kind: string, key: string): string {
  const closest = findClosest(key.slice(OWN_PREFIX.length), OWN_NAMES);
  const hint =
    closest === undefined ? "Landfall does not know it" : `did you mean ${OWN_PREFIX}${closest}?`;
  return `the ${kind} ${quote(key)} has no effect: ${hint}`;
}
