/**
 * What Landfall would write to a Node, for `landfall check`: the controllers' own plans, put side by side.
 * @module
 */
import type { Presence, Provider } from "../../cloud/provider.ts";
import { isReady, isUninitialized } from "../../controllers/identity.ts";
import { planNode } from "../../controllers/node/plan.ts";
import type { Claims } from "../../controllers/node/rivals.ts";
import { planNodeLabels } from "../../controllers/node_labels/plan.ts";
import { planLifecycle } from "../../controllers/node_lifecycle/plan.ts";
import type { Node } from "../../kube/kinds/node.ts";

/** One write that would follow. */
export type NodeChange =
  /** The taint would go; provider ID and labels would come with it. */
  | {
      readonly what: "initialise";
      /** Absent when the Node has one. */
      readonly providerId?: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | {
      readonly what: "labels";
      readonly labels: Readonly<Record<string, string>>;
      /** Those of them that the Node has now. */
      readonly before: Readonly<Record<string, string>>;
    }
  /** The whole list, and that of now, each as `<type> <address>`. */
  | {
      readonly what: "addresses";
      readonly addresses: readonly string[];
      readonly before: readonly string[];
    }
  | { readonly what: "addShutdownTaint" }
  | { readonly what: "removeShutdownTaint" }
  /** Once its machine was missing often and long enough, and the fleet limit lets it. */
  | { readonly what: "delete" };

/** What would become of a Node. */
export interface NodeOutlook {
  readonly changes: readonly NodeChange[];
  /** Why it would stay as it is, though it should not; each a sentence without a full stop. */
  readonly problems: readonly string[];
}

/**
 * Lists what all controllers would do to a Node, as they stand after a start.
 *
 * @param claims Those of all Nodes, among which another may claim the same machine
 */
export function toOutlook(
  node: Node,
  resolved: Presence,
  { provider, claims }: { readonly provider: Provider; readonly claims: Claims },
): NodeOutlook {
  const presence = claims.refuseRival(node, resolved);
  const changes: NodeChange[] = [];
  const plan = planNode(node, presence, provider.providedNodeIps);
  if (plan.patch) {
    const { metadata, spec } = plan.patch;
    const providerId = spec.providerID ? { providerId: spec.providerID } : {};
    changes.push({ what: "initialise", ...providerId, labels: metadata.labels ?? {} });
  }
  const origins = provider.originLabels ?? {};
  const { set } = planNodeLabels(node, presence, { told: {}, origins });
  if (Object.keys(set).length > 0) {
    const labels = Object.entries(node.metadata.labels ?? {});
    const before = Object.fromEntries(labels.filter(([key]) => Object.hasOwn(set, key)));
    changes.push({ what: "labels", labels: set, before });
  }
  if (plan.addresses) {
    const before = toTexts(node.status?.addresses ?? []);
    changes.push({ what: "addresses", addresses: toTexts(plan.addresses), before });
  }
  const lifecycle = planLifecycle(node, presence, { kind: "keep" });
  if (lifecycle.kind === "taint") {
    changes.push({ what: lifecycle.isOff ? "addShutdownTaint" : "removeShutdownTaint" });
  }
  const isOurs = !isUninitialized(node) && Boolean(node.spec?.providerID);
  if (presence.kind === "absent" && isOurs && !isReady(node)) changes.push({ what: "delete" });
  const cautions = presence.kind === "present" && presence.caution ? [presence.caution] : [];
  return { changes, problems: [...plan.warnings.map(({ message }) => message), ...cautions] };
}

/** Says a change in one line. */
export function formatChange(change: NodeChange): string {
  switch (change.what) {
    case "initialise": {
      const providerId = change.providerId ? [`provider ID ${change.providerId}`] : [];
      return `would be initialised: ${[...providerId, ...formatLabels(change.labels)].join(", ")}`;
    }
    case "labels":
      return `labels would become: ${formatLabels(change.labels).join(", ")}`;
    case "addresses":
      return `addresses would become: ${change.addresses.join(", ")}`;
    case "addShutdownTaint":
      return "would get the shutdown taint: its machine does not run";
    case "removeShutdownTaint":
      return "would lose the shutdown taint: it is Ready";
    case "delete":
      return "would be deleted, after the hold-off and within the fleet limit of `deletion`";
  }
}

function toTexts(
  addresses: readonly { readonly type: string; readonly address: string }[],
): string[] {
  return addresses.map(({ type, address }) => `${type} ${address}`);
}

function formatLabels(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}
