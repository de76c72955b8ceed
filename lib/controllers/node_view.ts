/**
 * Describes one Node for the debug pages: what its cloud says, and its desired and actual state.
 * @module
 */
import type { Instance, InstanceAddress, Place } from "../cloud/instance.ts";
import type { Presence, Provider } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { explainForeign, explainUnmanaged, isUninitialized } from "./identity.ts";
import { toInstanceLabels } from "./instance_labels.ts";
import { TOPOLOGY_LABELS } from "./words.ts";
import { type AddressUses, planAddresses, toAddressPolicy } from "./addresses.ts";

/** The state of one Node, without its reconciles. */
interface NodeState {
  readonly name: string;
  readonly providerId?: string;
  readonly wantedProviderId?: string;
  readonly isUninitialized: boolean;
  readonly matchedBy?: string;
  readonly places: readonly Place[];
  readonly presence: {
    readonly kind: Presence["kind"];
    readonly reason?: string;
    readonly message?: string;
  };
  readonly instance: {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly details: Readonly<Record<string, string>>;
    readonly page?: string;
  } | null;
  readonly labels: {
    readonly wanted?: Readonly<Record<string, string>>;
    readonly actual: Readonly<Record<string, string>>;
  };
  readonly addresses: {
    readonly wanted?: readonly InstanceAddress[];
    readonly actual: readonly { readonly type: string; readonly address: string }[];
  };
  /** Who else has addresses of it or its machine, and what to do. Absent: there is no conflict. */
  readonly addressConflict?: string;
}

const TOPOLOGY_KEYS: ReadonlySet<string> = new Set(Object.values(TOPOLOGY_LABELS).flat());

/**
 * Describes a Node. Shows only labels that an instance of its cloud may set, even if their value is not known now.
 *
 * @param uses Who else has addresses. @default {it is not known}
 */
export function describeNode(
  node: Node,
  presence: Presence,
  provider: Pick<Provider, "providedNodeIps" | "unmanaged" | "toPage" | "toPlaces" | "labelKeys">,
  uses?: AddressUses,
): NodeState {
  const instance = presence.kind === "present" ? presence.instance : undefined;
  const wanted = instance && toInstanceLabels(instance);
  const wantedLabels = wanted && {
    ...instance.tagLabels?.labels,
    ...wanted.additional,
    ...wanted.topology,
  };
  const { labelKeys } = provider;
  const isOurs = (key: string): boolean =>
    presence.kind !== "foreign" && (TOPOLOGY_KEYS.has(key) || labelKeys?.has(key) === true);
  const labels = Object.entries(node.metadata.labels ?? {});
  const foreign = explainForeign(node, presence);
  const advice = foreign ?? presence.otherMachine ?? explainUnmanaged(node, presence);
  return {
    name: node.metadata.name,
    ...(node.spec?.providerID ? { providerId: node.spec.providerID } : {}),
    ...(instance ? { wantedProviderId: instance.providerId } : {}),
    isUninitialized: isUninitialized(node),
    ...(presence.kind === "present" ? { matchedBy: presence.matchedBy } : {}),
    places: toPlaces(node, presence, provider),
    presence: {
      ...toPresenceView(presence),
      ...(foreign && { reason: "otherCloud" }),
      ...(advice && { message: advice }),
    },
    instance: instance ? toInstanceView(instance, provider) : null,
    labels: {
      ...(wantedLabels ? { wanted: wantedLabels } : {}),
      actual: Object.fromEntries(
        labels.filter(([key]) => isOurs(key) || (wantedLabels && Object.hasOwn(wantedLabels, key))),
      ),
    },
    ...describeAddresses(node, presence, provider, uses),
  };
}

/** Describes only the addresses of a Node. */
export function describeAddresses(
  node: Node,
  presence: Presence,
  provider: Pick<Provider, "providedNodeIps" | "unmanaged">,
  uses?: AddressUses,
): Pick<NodeState, "addressConflict" | "addresses"> {
  const actual = (node.status?.addresses ?? []).map(({ type, address }) => ({ type, address }));
  if (presence.kind !== "present") return { addresses: { actual } };
  const plan = planAddresses(node, presence.instance, toAddressPolicy(provider), uses);
  const wanted = plan.kind === "wanted" ? { wanted: plan.addresses } : {};
  const conflict = plan.kind === "invalid" ? undefined : plan.conflict;
  return {
    addresses: { ...wanted, actual },
    ...(conflict !== undefined && { addressConflict: conflict }),
  };
}

function toPresenceView(presence: Presence): NodeState["presence"] {
  switch (presence.kind) {
    case "present":
      return { kind: "present", ...(presence.caution && { message: presence.caution }) };
    case "absent":
      return { kind: "absent", message: presence.evidence };
    case "unknown":
      return { kind: "unknown", reason: presence.reason, message: presence.message };
    case "foreign":
      return {
        kind: "foreign",
        ...(presence.otherMachine !== undefined && { reason: "ambiguous" }),
        message: presence.message ?? "the provider ID belongs to another cloud",
      };
  }
}

/** For a Node of another cloud, uses the labels that every cloud writes. */
function toPlaces(
  { metadata }: Node,
  presence: Presence,
  provider: Pick<Provider, "toPlaces">,
): readonly Place[] {
  // The API may send `null` for an absent field.
  const labels = metadata.labels ?? {};
  const instance = presence.kind === "present" ? presence.instance : undefined;
  if (provider.toPlaces && presence.kind !== "foreign") return provider.toPlaces(instance, labels);
  const places: Place[] = [];
  for (const kind of ["region", "zone"] as const) {
    const id = instance ? instance[kind] : labels[TOPOLOGY_LABELS[kind][0]];
    if (id) places.push({ kind, id });
  }
  return places;
}

function toInstanceView(
  instance: Instance,
  provider: Pick<Provider, "toPage">,
): NodeState["instance"] {
  const { id, name, state, details } = instance;
  const page = provider.toPage?.(instance);
  return { id, name, state, details, ...(page !== undefined && { page }) };
}
