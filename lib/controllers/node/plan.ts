/**
 * Decides what a Node needs: pure and total, and nothing once it was applied.
 * @module
 */
import type { Instance, InstanceAddress, Presence, UnknownReason } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type AddressPolicy, hasAddresses, listTypeChanges, planAddresses } from "../addresses.ts";
import { isUninitialized } from "../identity.ts";
import { toInstanceLabels } from "../instance_labels.ts";
import { planTagLabels, toMetadataPatch } from "../tag_labels.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import { UNINITIALIZED_TAINT } from "../words.ts";
import type { NodePatch } from "../node_writer.ts";
import { EVENT_WORDS } from "./words.ts";

/** Everything that one reconcile of a Node does. Absent members need no call. */
export interface NodePlan {
  /** Whether `patch` is the first write: it takes the taint away, and with it come provider ID and labels. */
  readonly initialises: boolean;
  readonly patch?: Required<NodePatch>;
  /** The whole new list of addresses. */
  readonly addresses?: readonly InstanceAddress[];
  /** What a person should know. */
  readonly warnings: readonly EventOptions[];
  /** What has changed once everything is written. */
  readonly news: readonly EventOptions[];
  /** Why the Node stays uninitialised, though its cloud was asked; it is tried again. */
  readonly blocked?: string;
}

const NOTHING: NodePlan = { initialises: false, warnings: [], news: [] };

/** Problems of an initialised Node that stay until a person solves them; all others may end by themselves. */
const UNMATCHED: ReadonlyMap<UnknownReason, EventWord> = new Map([
  ["malformedProviderId", EVENT_WORDS.malformedProviderId],
  ["ambiguous", EVENT_WORDS.providerIdMismatch],
]);

/**
 * Plans one Node.
 *
 * @param node The Node as last seen
 * @param presence What the cloud says of its instance
 * @param policy What becomes of addresses
 */
export function planNode(node: Node, presence: Presence, policy: AddressPolicy): NodePlan {
  return isUninitialized(node)
    ? planInitialisation(node, presence, policy)
    : planUpkeep(node, presence, policy);
}

/** Everything in one write, so that no Node is ever seen without its taint and without its labels. */
function planInitialisation(node: Node, presence: Presence, policy: AddressPolicy): NodePlan {
  // Another cloud's Node waits for that cloud's controller.
  if (presence.kind === "foreign") return NOTHING;
  if (presence.kind !== "present") return planBlocked(presence);
  const { instance } = presence;
  const addressPlan = planAddresses(node, instance, policy);
  if (addressPlan.kind === "invalid") {
    const { message } = addressPlan;
    return {
      ...NOTHING,
      blocked: message,
      warnings: [toEvent(EVENT_WORDS.invalidNodeIp, message)],
    };
  }
  const { set: labels, refused } = planLabels(node, instance);
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT);
  return {
    ...NOTHING,
    initialises: true,
    patch: {
      metadata: toMetadataPatch(labels, planTagLabels(node, instance)),
      spec: {
        taints: taints.length === 0 ? null : taints,
        ...(node.spec?.providerID ? {} : { providerID: instance.providerId }),
      },
    },
    ...toAddresses(node, addressPlan),
    warnings: refused.map((what) =>
      toEvent(
        EVENT_WORDS.invalidLabel,
        `Cannot set a label of instance "${instance.name}": ${what}`,
      ),
    ),
  };
}

function planUpkeep(node: Node, presence: Presence, policy: AddressPolicy): NodePlan {
  // Another controller initialised a Node without a provider ID.
  if (!node.spec?.providerID) return NOTHING;
  if (presence.kind === "unknown") {
    const word = UNMATCHED.get(presence.reason);
    return word ? { ...NOTHING, warnings: [toEvent(word, presence.message)] } : NOTHING;
  }
  if (presence.kind !== "present") return NOTHING;
  const plan = planAddresses(node, presence.instance, policy);
  const warnings =
    plan.kind === "invalid" ? [toEvent(EVENT_WORDS.invalidNodeIp, plan.message)] : [];
  const { addresses } = toAddresses(node, plan);
  if (addresses === undefined) return { ...NOTHING, warnings };
  const changes = listTypeChanges(node, addresses);
  const message = `Type of address changed: ${changes.join(", ")}`;
  const news = changes.length === 0 ? [] : [toEvent(EVENT_WORDS.addressTypeChanged, message)];
  return { ...NOTHING, addresses, warnings, news };
}

function planBlocked(presence: Exclude<Presence, { kind: "present" | "foreign" }>): NodePlan {
  const message =
    presence.kind === "absent"
      ? `The instance of the provider ID is gone (${presence.evidence}): delete this Node, or restore the instance`
      : presence.message;
  const malformed = presence.kind === "unknown" && presence.reason === "malformedProviderId";
  const word = malformed ? "malformedProviderId" : "initializationFailed";
  return { ...NOTHING, blocked: message, warnings: [toEvent(EVENT_WORDS[word], message)] };
}

function toAddresses(
  node: Node,
  plan: ReturnType<typeof planAddresses>,
): { addresses?: readonly InstanceAddress[] } {
  if (plan.kind !== "wanted" || hasAddresses(node, plan.addresses)) return {};
  return { addresses: plan.addresses };
}

/** Labels to set, and what was left out. */
export interface LabelPlan {
  readonly set: Readonly<Record<string, string>>;
  /** One sentence for each label that was refused. */
  readonly refused: readonly string[];
}

/**
 * Plans the labels of a Node's first write: topology labels replace what is there, additional ones never do.
 * Only differences are set.
 */
export function planLabels(node: Node, instance: Instance): LabelPlan {
  const actual = node.metadata.labels ?? {};
  const { topology, additional, refused } = toInstanceLabels(instance);
  const set: Record<string, string> = {};
  for (const [key, value] of Object.entries(topology)) if (actual[key] !== value) set[key] = value;
  for (const [key, value] of Object.entries(additional)) {
    if (!Object.hasOwn(actual, key)) set[key] = value;
  }
  return { set, refused };
}
