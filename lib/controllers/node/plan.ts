/**
 * Plans the changes that a Node needs, and finds Nodes that claim the same machine, so that neither gets it. Pure and
 * total. After a plan is applied, the next one is empty.
 * @module
 */
import type { Instance, InstanceAddress } from "../../cloud/instance.ts";
import type { Presence, Provider, UnknownReason } from "../../cloud/provider.ts";
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
import { Claims } from "../../core/maps.ts";
import { swapUuid } from "../../core/text/values.ts";

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
function planLabels(node: Node, instance: Instance): LabelPlan {
  const actual = node.metadata.labels ?? {};
  const { topology, additional, refused } = toInstanceLabels(instance);
  const set: Record<string, string> = {};
  for (const [key, value] of Object.entries(topology)) if (actual[key] !== value) set[key] = value;
  for (const [key, value] of Object.entries(additional)) {
    if (!Object.hasOwn(actual, key)) set[key] = value;
  }
  return { set, refused };
}

/** A Node that has, or may have, the machine of another Node. */
interface Rival {
  readonly name: string;
  /** Whether both certainly have the same machine. Otherwise the machine of the rival is not known. */
  readonly isCertain: boolean;
  /** Whether the rival belongs to another controller, so that Landfall never learns its machine. @default {false} */
  readonly isForeign?: true;
}

/** Returns what is known now about the machine of a Node, by the Node's name; `undefined` if there is no such Node. */
type Explain = (name: string) => Presence | undefined;

/**
 * An index of which Nodes claim which machine, by provider ID or name, and by system UUID.
 *
 * Two machines may have system UUIDs that are equal in either byte order. So Nodes that report the same system UUID are
 * rivals, unless they were resolved to different machines.
 */
export class MachineClaims {
  readonly #provider: Pick<Provider, "toInstanceId">;
  readonly #explain: Explain;
  readonly #claims = new Claims();

  /**
   * @param provider Says whether two provider IDs name the same machine
   * @param explain Says which machine a rival has
   */
  constructor(provider: Pick<Provider, "toInstanceId">, explain: Explain) {
    this.#provider = provider;
    this.#explain = explain;
  }

  /** Creates the index for these Nodes. */
  static of(
    nodes: Iterable<Node>,
    provider: Pick<Provider, "toInstanceId">,
    explain: Explain,
  ): MachineClaims {
    const claims = new MachineClaims(provider, explain);
    for (const node of nodes) claims.note(node.metadata.name, node);
    return claims;
  }

  /**
   * Updates the index for a Node that is new, changed or gone.
   *
   * @param node Absent if it is gone
   */
  note(name: string, node: Node | undefined): void {
    this.#claims.replace(name, node === undefined ? [] : this.#listClaims(node));
  }

  /**
   * Finds another Node whose provider ID names the same machine. For a Node without a provider ID, also finds a Node
   * that reports the same system UUID in either byte order and was not resolved to another machine: Landfall then
   * cannot know which Node the machine belongs to. This happens if machines were cloned below the cloud, or Nodes were
   * renamed.
   *
   * @param ownProviderId The provider ID of the Node, if it names a machine; else empty
   */
  findRival(
    node: Node,
    instance: Instance,
    ownProviderId: string = node.spec?.providerID ?? "",
  ): Rival | undefined {
    const { name } = node.metadata;
    const machine = this.#toProviderIdClaim(ownProviderId || instance.providerId);
    const [named] = this.#claims.others(machine, name);
    if (named !== undefined) return { name: named, isCertain: true };
    // The provider ID names the machine, even if that machine reports another system UUID.
    if (ownProviderId !== "") return undefined;
    for (const other of this.#claims.others(toSystemUuidClaim(node), name)) {
      const presence = this.#explain(other);
      if (presence?.kind === "foreign") return { name: other, isCertain: false, isForeign: true };
      if (presence?.kind !== "present") return { name: other, isCertain: false };
      if (presence.instance.id === instance.id) return { name: other, isCertain: true };
    }
    return undefined;
  }

  /** Returns the presence of a Node that is not initialised yet. If two Nodes claim a machine, neither gets it. */
  refuseRival(node: Node, presence: Presence): Presence {
    if (presence.kind !== "present" || !isUninitialized(node)) return presence;
    const { instance, matchedBy } = presence;
    // A Node that is found by its name may have a provider ID that names no machine, the same as many others.
    const rival =
      matchedBy === "name"
        ? (this.findRival(node, instance, "") ?? this.#findNamesake(node, instance))
        : this.findRival(node, instance);
    return rival === undefined ? presence : toRivalPresence(presence.instance, rival);
  }

  /**
   * Finds another Node that has the same machine by its name, without a provider ID or with one that names no machine:
   * a cloud may find the same machine for `worker-1` and for `worker-1.example.com`.
   */
  #findNamesake(node: Node, instance: Instance): Rival | undefined {
    const { name } = node.metadata;
    const other = this.#claims.others(toNameClaim(node), name).find((one) => {
      const presence = this.#explain(one);
      return presence?.kind === "present" && presence.instance.id === instance.id;
    });
    return other === undefined ? undefined : { name: other, isCertain: true };
  }

  #listClaims(node: Node): readonly string[] {
    const providerId = node.spec?.providerID ?? "";
    const isMachine = this.#provider.toInstanceId?.(providerId) !== undefined;
    return [
      ...(providerId === "" ? [] : [this.#toProviderIdClaim(providerId)]),
      ...(isMachine ? [] : [toNameClaim(node)]),
      toSystemUuidClaim(node),
    ].filter((claim) => claim !== "");
  }

  /**
   * Returns the same claim for every form of an instance's provider ID, and the text itself if another cloud owns it.
   */
  #toProviderIdClaim(providerId: string): string {
    const id = this.#provider.toInstanceId?.(providerId);
    return id === undefined ? providerId : `instance ${id}`;
  }
}

/** Whether two states of one Node claim the same machine. */
export function claimsTheSame(one: Node, other: Node): boolean {
  return (
    one.spec?.providerID === other.spec?.providerID &&
    one.status?.nodeInfo?.systemUUID === other.status?.nodeInfo?.systemUUID
  );
}

function toRivalPresence({ name, providerId }: Instance, rival: Rival): Presence {
  const advice =
    "delete the Node that does not use this machine any more, or give each machine its own system UUID and " +
    "--provider-id";
  const what = `Instance "${name}" (${providerId}) ${describeClaim(rival)}`;
  return { kind: "unknown", reason: "ambiguous", message: `${what} ${advice}` };
}

/** Returns the first part of the message; advice follows. */
function describeClaim({ name, isCertain, isForeign }: Rival): string {
  if (isCertain) return `is also claimed by Node "${name}":`;
  const what = `may also be the machine of Node "${name}", which reports the same system UUID`;
  return isForeign
    ? `${what} and belongs to another controller, so Landfall cannot find out which Node is right:`
    : `${what} and whose machine is unknown. Landfall waits until it is known. If it stays unknown,`;
}

/** Returns a claim that differs from every provider ID, and is the same for all names with the same first part. */
function toNameClaim({ metadata: { name } }: Node): string {
  return `name ${name.split(".", 1).join("").toLowerCase()}`;
}

/**
 * Returns a claim that differs from every provider ID, and is the same in either byte order. Empty without a system
 * UUID.
 */
function toSystemUuidClaim(node: Node): string {
  const uuid = (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase();
  const swapped = swapUuid(uuid);
  return uuid === "" ? "" : `system UUID ${uuid < swapped ? uuid : swapped}`;
}
