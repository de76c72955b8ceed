/**
 * Plans the changes that a Node needs. Pure and total. After a plan is applied, the next one is empty.
 * @module
 */
import type { Instance, InstanceAddress } from "../../cloud/instance.ts";
import type { Presence, UnknownReason } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import {
  type AddressPlan,
  type AddressPolicy,
  type AddressUses,
  hasAddresses,
  listInternalIpChanges,
  listTypeChanges,
  planAddresses,
} from "../addresses.ts";
import { explainForeign, explainUnmanaged, isReady, isUninitialized } from "../identity.ts";
import { planTagLabels, toInstanceLabels, toMetadataPatch } from "../instance_labels.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import { UNINITIALIZED_TAINT } from "../words.ts";
import type { NodePatch } from "../node_context.ts";
import { EVENT_WORDS } from "./words.ts";

/** Everything that one reconcile of a Node does. An absent member needs no request. */
export interface NodePlan {
  /** Whether `patch` is the first write: it removes the taint, and sets provider ID and labels. */
  readonly initialises: boolean;
  readonly patch?: Required<NodePatch>;
  /** The whole new list of addresses. */
  readonly addresses?: readonly InstanceAddress[];
  /** Warnings for operators. */
  readonly warnings: readonly EventOptions[];
  /** Events to record after everything is written. */
  readonly news: readonly EventOptions[];
  /** An Event to record once in the life of the Node. */
  readonly notice?: EventOptions;
  /** How long there must be a reason for that Event before it is recorded. Absent: it is recorded at once. */
  readonly noticeAfterMs?: number;
  /** Why the Node stays uninitialised, although the cloud was asked. Landfall tries again. */
  readonly blocked?: string;
}

/** How long a new Node of another cloud may wait for the controller of that cloud without an Event. */
const OTHER_CONTROLLER_MS = 60_000;

const NOTHING: NodePlan = { initialises: false, warnings: [], news: [] };

/** Problems of an initialised Node that need a person. All others may end by themselves. */
const UNMATCHED: ReadonlyMap<UnknownReason, EventWord> = new Map([
  ["malformedProviderId", EVENT_WORDS.malformedProviderId],
  ["ambiguous", EVENT_WORDS.providerIdMismatch],
]);

/**
 * Plans one Node.
 *
 * @param node The latest state of the Node
 * @param presence What the cloud says about its instance
 * @param policy How to set addresses
 * @param uses Who else has addresses. @default {it is not known}
 */
export function planNode(
  node: Node,
  presence: Presence,
  policy: AddressPolicy,
  uses?: AddressUses,
): NodePlan {
  const planAddressesOf = (instance: Instance): AddressPlan =>
    planAddresses(node, instance, policy, uses);
  return isUninitialized(node)
    ? planInitialisation(node, presence, planAddressesOf)
    : planUpkeep(node, presence, planAddressesOf);
}

type PlanAddresses = (instance: Instance) => AddressPlan;

/** Plans one write, so that no program ever sees a Node that has neither the taint nor its labels. */
function planInitialisation(
  node: Node,
  presence: Presence,
  planAddressesOf: PlanAddresses,
): NodePlan {
  if (presence.kind === "foreign") return planForeign(node, presence);
  if (presence.kind !== "present") return planBlocked(node, presence);
  const { instance } = presence;
  const addressPlan = planAddressesOf(instance);
  const addressWarnings = toAddressWarnings(addressPlan);
  if (addressPlan.kind === "invalid") {
    return { ...NOTHING, blocked: addressPlan.message, warnings: addressWarnings };
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
    warnings: [
      ...addressWarnings,
      ...refused.map((what) =>
        toEvent(
          EVENT_WORDS.invalidLabel,
          `Cannot set a label of instance "${instance.name}": ${what}`,
        ),
      ),
    ],
  };
}

/** A Node of another cloud waits for that cloud's controller, if there is one. */
function planForeign(node: Node, presence: Presence): NodePlan {
  const message = explainForeign(node, presence);
  if (message === undefined) return NOTHING;
  const notice = toEvent(EVENT_WORDS.initializationFailed, message);
  return { ...NOTHING, notice, noticeAfterMs: OTHER_CONTROLLER_MS };
}

function planUpkeep(node: Node, presence: Presence, planAddressesOf: PlanAddresses): NodePlan {
  if (!node.spec?.providerID) {
    const message = explainUnmanaged(node, presence);
    return message === undefined
      ? NOTHING
      : { ...NOTHING, notice: toEvent(EVENT_WORDS.notManaged, message) };
  }
  const { otherMachine } = presence;
  const mismatch =
    otherMachine === undefined ? [] : [toEvent(EVENT_WORDS.providerIdMismatch, otherMachine)];
  if (presence.kind === "unknown" && otherMachine === undefined) {
    const word = UNMATCHED.get(presence.reason);
    return word ? { ...NOTHING, warnings: [toEvent(word, presence.message)] } : NOTHING;
  }
  if (presence.kind !== "present") return { ...NOTHING, warnings: mismatch };
  const plan = planAddressesOf(presence.instance);
  const warnings = [
    // A machine that is off and whose Node is not Ready is nothing unusual.
    ...(isReady(node) ? mismatch : []),
    ...toAddressWarnings(plan),
  ];
  const { addresses } = toAddresses(node, plan);
  if (addresses === undefined) return { ...NOTHING, warnings };
  const { addressTypeChanged, internalIpChanged } = EVENT_WORDS;
  const types = listTypeChanges(node, addresses);
  const moves = listInternalIpChanges(node, addresses);
  const news = [
    ...(types.length === 0
      ? []
      : [toEvent(addressTypeChanged, `Type of address changed: ${types.join(", ")}`)]),
    ...(moves.length === 0
      ? []
      : [toEvent(internalIpChanged, `InternalIP changed ${moves.join(", ")}`)]),
  ];
  return { ...NOTHING, addresses, warnings, news };
}

function toAddressWarnings(plan: AddressPlan): EventOptions[] {
  const { invalidNodeIp, addressConflict } = EVENT_WORDS;
  if (plan.kind === "invalid") return [toEvent(invalidNodeIp, plan.message)];
  return plan.conflict === undefined ? [] : [toEvent(addressConflict, plan.conflict)];
}

/** A Node whose machine went before it was initialised waits for ever. */
function toGoneAdvice(node: Node, { reason }: Presence & { kind: "unknown" }): string {
  return reason === "notFound" && !isReady(node)
    ? "; if the machine is gone, delete this Node"
    : "";
}

function planBlocked(
  node: Node,
  presence: Exclude<Presence, { kind: "present" | "foreign" }>,
): NodePlan {
  const message =
    presence.kind === "absent"
      ? `The machine of this Node is gone (${presence.evidence}): delete this Node, or restore the machine`
      : presence.message + toGoneAdvice(node, presence);
  const malformed = presence.kind === "unknown" && presence.reason === "malformedProviderId";
  const word = malformed ? "malformedProviderId" : "initializationFailed";
  return { ...NOTHING, blocked: message, warnings: [toEvent(EVENT_WORDS[word], message)] };
}

function toAddresses(node: Node, plan: AddressPlan): { addresses?: readonly InstanceAddress[] } {
  if (plan.kind !== "wanted" || hasAddresses(node, plan.addresses)) return {};
  return { addresses: plan.addresses };
}

/** Labels to set, and labels that Landfall cannot set. */
interface LabelPlan {
  readonly set: Readonly<Record<string, string>>;
  /** One sentence for each label that Kubernetes would refuse. */
  readonly refused: readonly string[];
}

/**
 * Plans the labels of a Node's first write. Topology labels replace existing ones; additional labels never do. The plan
 * contains only differences.
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
