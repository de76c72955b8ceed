/**
 * The port: what Landfall asks of every cloud. Providers implement it, controllers call it, neither knows the other.
 * @module
 */
import type { Changes } from "./capabilities/changes.ts";
import type { ProvenOff } from "./capabilities/proven_off.ts";
import type { Inspection } from "./inspection.ts";
import type { Instance } from "./instance.ts";
import type { Inventory } from "./inventory/inventory.ts";
import type { NodeIdentity } from "./node_identity.ts";
import type { Place } from "./place.ts";

export type { ChangeHint } from "./capabilities/changes.ts";
export type { Instance, InstanceAddress, InstanceState } from "./instance.ts";
export type { NodeIdentity } from "./node_identity.ts";
export type { Place } from "./place.ts";

/** How an instance was found for a Node. */
export type MatchedBy = "providerId" | "systemUuid" | "swappedSystemUuid" | "name";

/**
 * Why nothing is known about an instance.
 *
 * For a Node with a provider ID, `notListed` counts as one observation of absence; everything else is no observation.
 *
 * - `noInventory`: no inventory was taken yet, or none since the Node is known
 * - `notListed`: not shown, although the part of the cloud that would hold it answered in full. No proof: lists may be
 *   filtered, and an instance that moves to another part may for a while be in neither. Only
 *   {@linkcode Provider.readInstance} proves absence
 * - `unreachable`, `throttled`, `denied`, `protocol`: as {@linkcode CloudErrorKind}
 * - `notCovered`: a part of the cloud that may hold it does not answer (a lost pool), was never seen, or is not known
 * - `partLost`: as `notCovered`, and only parts other than its own are lost: see {@linkcode ReadOptions}
 * - `undecodable`: the cloud shows it, in a form that cannot be read
 * - `ambiguous`: more than one instance matches
 * - `malformedProviderId`: the provider ID is of this cloud but cannot be read
 * - `noIdentity`: the Node has nothing to look it up by
 * - `notFound`: looked up by everything the Node has, with a clear no; for a Node that was never matched
 */
export type UnknownReason =
  | "noInventory"
  | "notListed"
  | "unreachable"
  | "throttled"
  | "denied"
  | "protocol"
  | "notCovered"
  | "partLost"
  | "undecodable"
  | "ambiguous"
  | "malformedProviderId"
  | "noIdentity"
  | "notFound";

/** How to read one instance. */
export interface ReadOptions {
  /**
   * Whether its absence may be proven while other parts of the cloud than its own are lost: only for an instance that
   * stayed in its own part for long enough after the loss. A cloud without parts ignores it.
   *
   * @default {false}
   */
  readonly mayPartsBeLost?: boolean;
}

/** What a cloud can say about a Node's machine. Only `absent` may ever cause a deletion. */
export type Presence =
  | {
      readonly kind: "present";
      readonly instance: Instance;
      readonly matchedBy: MatchedBy;
      /** What an operator should know and do about it; no full stop, no secret. */
      readonly caution?: string;
    }
  /** Proven gone: only for a Node whose provider ID names the instance. `evidence` says how. */
  | { readonly kind: "absent"; readonly evidence: string }
  /** `message` tells an operator what is wrong and what to do; no full stop, no secret. */
  | { readonly kind: "unknown"; readonly reason: UnknownReason; readonly message: string }
  /** Not ours. Without a `message`: its provider ID belongs to another cloud. */
  | { readonly kind: "foreign"; readonly providerId?: string; readonly message?: string };

/** A cloud. */
export interface Provider {
  /** Name for `--cloud-provider`, logs and metrics. */
  readonly name: string;
  /**
   * Whether Landfall accepts the IP addresses that a kubelet was started with (`--node-ip`) without a check (`trusted`:
   * the cloud may not know what a guest uses), or only those that the cloud reports (`verified`).
   */
  readonly providedNodeIps: "trusted" | "verified";
  /** What of a Node its settings leave to others: it is never written. @default {nothing} */
  readonly leftAlone?: ReadonlySet<"addresses" | "zone">;
  /** Labels whose value before the first move of a machine is kept: key of the label, and the key that keeps it. */
  readonly originLabels?: Readonly<Record<string, string>>;
  /**
   * Keys of the labels that instances set, if they are known, besides those of region, zone and type. For
   * display only, of a Node whose instance is not shown. @default {none}
   */
  readonly labelKeys?: ReadonlySet<string>;
  /** How often the inventory is refreshed, in milliseconds. */
  readonly refreshIntervalMs: number;
  /**
   * Takes one inventory. The number of requests does not depend on the number of Nodes.
   *
   * @param interest The Nodes to look for; a provider may list only these. Empty: everything is listed
   * @throws {CloudError} when the cloud cannot answer; the last inventory stays in use
   */
  listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory>;
  /**
   * Finds a Node's instance in an inventory: memory only, never `absent`. For the meaning of no instance, see
   * {@linkcode UnknownReason}. `present` stays valid until the next list as long as the Node and the instance are the
   * same and no other instance appears.
   */
  findInstance(inventory: Inventory, node: NodeIdentity): Presence;
  /**
   * Asks the cloud directly about one Node, when the inventory does not show its instance.
   * The only source of `absent`. A cloud that cannot answer gives `unknown`; rejects only when the signal aborts.
   *
   * @param inventory The newest inventory, for what is known about the Node's surroundings
   */
  readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence>;
  /** How the cloud reports changes as they happen. Absent: it does not report changes. */
  readonly changes?: Changes;
  /** How the cloud proves that an instance is powered off. Absent: it cannot. */
  readonly provenOff?: ProvenOff;
  /**
   * Looks at the cloud once, for the operator who sets it up: whether it answers, as which user, and what is visible.
   * Problems are findings; rejects only when the signal aborts. Changes nothing, and leaves nothing behind when the
   * provider was created as transient. Absent: the inventory says everything.
   */
  inspect?(signal: AbortSignal): Promise<Inspection>;
  /**
   * The cloud's ID of the instance that a provider ID names, in every form of that ID: with another pool, in another
   * case, in an old form. Memory only. Absent, or `undefined`: two provider IDs name one instance when they are equal.
   */
  toInstanceId?(providerId: string): string | undefined;
  /**
   * Where an instance is, for display only: the largest place first, without what is not known.
   *
   * Absent: its region and zone say everything.
   *
   * @param instance Absent when the cloud does not show it now
   * @param labels The labels of its Node, which say where it was last seen
   */
  toPlaces?(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[];
}
