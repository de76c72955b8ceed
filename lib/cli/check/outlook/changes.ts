/**
 * What Landfall would change on a Node, for `landfall check`: the plans of all controllers together.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Presence, Provider } from "../../../cloud/provider.ts";
import { isReady, isUninitialized } from "../../../controllers/identity.ts";
import { type MachineClaims, planNode } from "../../../controllers/node/plan.ts";
import { type AddressUses, toAddressPolicy } from "../../../controllers/addresses.ts";
import type { NodePatch } from "../../../controllers/node_context.ts";
import { NO_TAG_CHANGES } from "../../../controllers/instance_labels.ts";
import { planNodeLabels } from "../../../controllers/node_labels/plan.ts";
import { planLifecycle } from "../../../controllers/node_lifecycle/plan.ts";
import { SHUTDOWN_TAINT } from "../../../controllers/node_lifecycle/words.ts";
import { UNINITIALIZED_TAINT } from "../../../controllers/words.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import type { Acting } from "./acting.ts";
import {
  formatOutOfServiceChange,
  listOutOfServiceChanges,
  type OutOfServiceChange,
} from "./out_of_service.ts";

/** One write that would follow. */
export type NodeChange =
  /** The taint is removed; provider ID and labels are added with it. */
  | {
      readonly what: "initialise";
      /** Absent when the Node has it already. */
      readonly providerId?: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | {
      readonly what: "labels";
      readonly labels: Readonly<Record<string, string>>;
      /** Keys of labels that are removed, because their tags are gone. Absent: none. */
      readonly removed?: readonly string[];
      /** Values of all these on the Node now. */
      readonly before: Readonly<Record<string, string>>;
    }
  /** The whole list, and the current one, each as `<type> <address>`. */
  | {
      readonly what: "addresses";
      readonly addresses: readonly string[];
      readonly before: readonly string[];
    }
  | { readonly what: "addShutdownTaint" }
  | { readonly what: "removeShutdownTaint" }
  | OutOfServiceChange
  /** Once its machine was missing for long enough, within the fleet limit. */
  | { readonly what: "delete" };

/** What Landfall would do about a Node. */
export interface NodeOutlook {
  readonly changes: readonly NodeChange[];
  /** What keeps Landfall from doing what it should; each a sentence without a full stop. */
  readonly problems: readonly string[];
}

/** What {@linkcode toOutlook} goes by. */
interface OutlookSources {
  readonly provider: Provider;
  /** Of all instances. */
  readonly inventory: Inventory;
  /** Of all Nodes: another one may claim the same machine. */
  readonly claims: MachineClaims;
  /** Who else has addresses. */
  readonly uses?: AddressUses;
  readonly acting: Acting;
}

/**
 * Lists what Landfall would do to a Node after a start.
 *
 * @param resolved What the cloud says about its machine
 */
export function toOutlook(node: Node, resolved: Presence, sources: OutlookSources): NodeOutlook {
  const { provider, claims } = sources;
  const presence = claims.refuseRival(node, resolved);
  const changes: NodeChange[] = [];
  const plan = planNode(node, presence, toAddressPolicy(provider), sources.uses);
  if (plan.patch) {
    const { metadata, spec } = plan.patch;
    const providerId = spec.providerID ? { providerId: spec.providerID } : {};
    changes.push({ what: "initialise", ...providerId, labels: toLabels(metadata) });
  }
  const origins = provider.originLabels ?? {};
  const { unmanaged = new Set() } = provider;
  const labelPlan = planNodeLabels(node, presence, { reported: {}, origins, unmanaged });
  const { tags = NO_TAG_CHANGES, tagWarnings = [] } = labelPlan;
  const set = { ...labelPlan.set, ...tags.set };
  const { removed } = tags;
  if (Object.keys(set).length > 0 || removed.length > 0) {
    const labels = Object.entries(node.metadata.labels ?? {});
    const isHere = (key: string): boolean => Object.hasOwn(set, key) || removed.includes(key);
    const before = Object.fromEntries(labels.filter(([key]) => isHere(key)));
    changes.push({ what: "labels", labels: set, ...(removed.length > 0 && { removed }), before });
  }
  if (plan.addresses) {
    const before = toTexts(node.status?.addresses ?? []);
    changes.push({ what: "addresses", addresses: toTexts(plan.addresses), before });
  }
  changes.push(...listTaints(node, presence, sources));
  const { hasLifecycle, deletion } = sources.acting;
  const isIncluded = !isUninitialized(node) || deletion.includesUninitialized;
  const isOurs = isIncluded && Boolean(node.spec?.providerID);
  const isDeleted = presence.kind === "absent" && isOurs && !isReady(node);
  if (isDeleted && hasLifecycle && deletion.enabled) changes.push({ what: "delete" });
  const missed = plan.notice ? [plan.notice.message] : [];
  const cautions = presence.kind === "present" && presence.caution ? [presence.caution] : [];
  const warnings = [...plan.warnings, ...tagWarnings].map(({ message }) => message);
  return { changes, problems: [...warnings, ...missed, ...cautions] };
}

/** The taints of machines that are off or gone. */
function listTaints(
  node: Node,
  presence: Presence,
  { provider: { provenOff }, inventory, acting }: OutlookSources,
): NodeChange[] {
  const changes: NodeChange[] = [];
  const { hasLifecycle, deletion, outOfService: settings } = acting;
  const lifecycle = planLifecycle(node, presence, { kind: "keep" });
  if (hasLifecycle && lifecycle.kind === "taint") {
    changes.push({ what: lifecycle.isOff ? "addShutdownTaint" : "removeShutdownTaint" });
  }
  if (settings === undefined || provenOff === undefined) return changes;
  const sources = { provenOff, inventory, settings, deletion };
  return [...changes, ...listOutOfServiceChanges(node, presence, sources)];
}

/** What is added, changed or removed. */
type Mark = "+" | "~" | "-";

/** Shows a change, one line for each thing: labels as `+ zone=a` and `~ zone=a -> b`, others as `- taint …`. */
export function formatChange(change: NodeChange): string[] {
  switch (change.what) {
    case "initialise": {
      const { providerId, labels } = change;
      return [
        toLine("-", `taint ${UNINITIALIZED_TAINT}`),
        ...(providerId === undefined ? [] : [toLine("+", `provider ID ${providerId}`)]),
        ...formatLabels(labels, {}),
      ];
    }
    case "labels":
      return [
        ...formatLabels(change.labels, change.before),
        ...(change.removed ?? []).map((key) => toLine("-", `${key}=${change.before[key] ?? ""}`)),
      ];
    case "addresses":
      return formatAddresses(change.before, change.addresses);
    case "addShutdownTaint":
      return [toLine("+", `taint ${SHUTDOWN_TAINT.key}: its machine does not run`)];
    case "removeShutdownTaint":
      return [toLine("-", `taint ${SHUTDOWN_TAINT.key}: the Node is Ready`)];
    case "addOutOfServiceTaint":
    case "removeOutOfServiceTaint":
    case "removeOutOfServiceRecord":
      return formatOutOfServiceChange(change);
    case "delete":
      return [toLine("-", "the Node itself, after deletion.holdOff and within the fleet limit")];
  }
}

function toTexts(
  addresses: readonly { readonly type: string; readonly address: string }[],
): string[] {
  return addresses.map(({ type, address }) => `${type} ${address}`);
}

/** Those that a patch sets. */
function toLabels({ labels = {} }: NonNullable<NodePatch["metadata"]>): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) if (value !== null) set[key] = value;
  return set;
}

function formatLabels(
  labels: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(labels).map(([key, value]) => {
    const had = Object.hasOwn(before, key) ? before[key] : undefined;
    if (had === undefined) return toLine("+", `${key}=${value}`);
    return toLine("~", `${key}=${had} -> ${value}`);
  });
}

function formatAddresses(before: readonly string[], after: readonly string[]): string[] {
  const lines = [
    ...before.filter((one) => !after.includes(one)).map((one) => toLine("-", `address ${one}`)),
    ...after.filter((one) => !before.includes(one)).map((one) => toLine("+", `address ${one}`)),
  ];
  return lines.length > 0 ? lines : [toLine("~", `order of addresses: ${after.join(", ")}`)];
}

function toLine(mark: Mark, text: string): string {
  return `${mark} ${text}`;
}
