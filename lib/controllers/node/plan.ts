/**
 * Decides what a Node needs: pure and total, and nothing once it was applied.
 * @module
 */
import type { InstanceAddress, Presence } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events.ts";
import type { Node } from "../../kube/resource.ts";
import { hasAddresses, planAddresses } from "./addresses.ts";
import { isUninitialized } from "./identity.ts";
import { planLabels, planTwinLabels } from "./labels.ts";
import { REASONS, UNINITIALIZED_TAINT } from "./words.ts";

/** Everything that one reconcile of a Node does. Absent members need no call. */
export interface NodePlan {
  /** Whether `patch` is the first write: it takes the taint away, and with it come provider ID and labels. */
  readonly initialises: boolean;
  /** Merge patch of the Node without its resourceVersion. */
  readonly patch?: { readonly metadata?: object; readonly spec?: object };
  /** The whole new list of addresses. */
  readonly addresses?: readonly InstanceAddress[];
  /** What a person should know. */
  readonly warnings: readonly EventOptions[];
  /** Why the Node stays uninitialised, though its cloud was asked; it is tried again. */
  readonly blocked?: string;
}

const NOTHING: NodePlan = { initialises: false, warnings: [] };

/**
 * Plans one Node.
 *
 * @param node The Node as last seen
 * @param presence What the cloud says of its instance
 * @param providedNodeIps See `Provider.providedNodeIps`
 */
export function planNode(
  node: Node,
  presence: Presence,
  providedNodeIps: "trusted" | "verified",
): NodePlan {
  return isUninitialized(node)
    ? planInitialisation(node, presence, providedNodeIps)
    : planUpkeep(node, presence, providedNodeIps);
}

/** Everything in one write, so that no Node is ever seen without its taint and without its labels. */
function planInitialisation(
  node: Node,
  presence: Presence,
  providedNodeIps: "trusted" | "verified",
): NodePlan {
  // Another cloud's Node waits for that cloud's controller.
  if (presence.kind === "foreign") return NOTHING;
  if (presence.kind !== "present") return planBlocked(presence);
  const { instance } = presence;
  const addressPlan = planAddresses(node, instance, providedNodeIps);
  if (addressPlan.kind === "invalid") {
    const { message } = addressPlan;
    return {
      initialises: false,
      blocked: message,
      warnings: [{ type: "Warning", reason: REASONS.invalidNodeIp, message }],
    };
  }
  const { set, refused } = planLabels(node, instance);
  const labels = { ...set, ...planTwinLabels({ ...node.metadata.labels, ...set }) };
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT);
  return {
    initialises: true,
    patch: {
      metadata: Object.keys(labels).length === 0 ? {} : { labels },
      spec: {
        taints: taints.length === 0 ? null : taints,
        ...(node.spec?.providerID ? {} : { providerID: instance.providerId }),
      },
    },
    ...toAddresses(node, addressPlan),
    warnings: refused.map((what) => ({
      type: "Warning",
      reason: REASONS.invalidLabel,
      message: `Left out a label of instance "${instance.name}": ${what}`,
    })),
  };
}

function planUpkeep(
  node: Node,
  presence: Presence,
  providedNodeIps: "trusted" | "verified",
): NodePlan {
  // A Node without a provider ID was initialised by somebody else, as was a foreign one.
  if (!node.spec?.providerID || presence.kind === "foreign") return NOTHING;
  const set = planTwinLabels(node.metadata.labels ?? {});
  const twins = Object.keys(set).length === 0 ? {} : { patch: { metadata: { labels: set } } };
  if (presence.kind === "unknown" && presence.reason === "malformedProviderId") {
    const warning = {
      type: "Warning",
      reason: REASONS.malformedProviderId,
      message: presence.message,
    } as const;
    return { initialises: false, ...twins, warnings: [warning] };
  }
  if (presence.kind !== "present") return { initialises: false, ...twins, warnings: [] };
  const addressPlan = planAddresses(node, presence.instance, providedNodeIps);
  const warnings: readonly EventOptions[] =
    addressPlan.kind === "invalid"
      ? [{ type: "Warning", reason: REASONS.invalidNodeIp, message: addressPlan.message }]
      : [];
  return { initialises: false, ...twins, ...toAddresses(node, addressPlan), warnings };
}

function planBlocked(presence: Exclude<Presence, { kind: "present" | "foreign" }>): NodePlan {
  const message =
    presence.kind === "absent"
      ? `The instance of the provider ID is gone (${presence.evidence}): delete this Node, or restore it`
      : presence.message;
  const malformed = presence.kind === "unknown" && presence.reason === "malformedProviderId";
  const reason = malformed ? REASONS.malformedProviderId : REASONS.initializationFailed;
  return { initialises: false, blocked: message, warnings: [{ type: "Warning", reason, message }] };
}

function toAddresses(
  node: Node,
  plan: ReturnType<typeof planAddresses>,
): { addresses?: readonly InstanceAddress[] } {
  if (plan.kind !== "wanted" || hasAddresses(node, plan.addresses)) return {};
  return { addresses: plan.addresses };
}
