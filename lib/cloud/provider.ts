/**
 * The port: what Landfall asks of any cloud. Providers implement it, controllers call it, neither knows the other.
 * @module
 */
import type { Changes } from "./capabilities/changes.ts";
import type { Inspection } from "./inspection.ts";
import type { Instance } from "./instance.ts";
import type { Inventory } from "./inventory/inventory.ts";
import type { Place } from "./place.ts";

export type { ChangeHint } from "./capabilities/changes.ts";
export type { Instance, InstanceAddress, InstanceState } from "./instance.ts";
export type { Place } from "./place.ts";

/** What identifies a Node to a cloud. Empty strings never occur: what is not known is absent. */
export interface NodeIdentity {
  /** Name of the Node. */
  readonly name: string;
  /** `spec.providerID` as it stands on the Node. */
  readonly providerId?: string;
  /** `status.nodeInfo.systemUUID` as the kubelet reports it, any case. */
  readonly systemUuid?: string;
  /**
   * The region its labels say it was last seen in: one more place to look at before its instance is called gone.
   * Anybody may have written it; what a provider cannot read it ignores.
   */
  readonly region?: string;
}

/** How an instance was found for a Node. */
export type MatchedBy = "providerId" | "systemUuid" | "swappedSystemUuid" | "name";

/**
 * Why nothing can be said about an instance.
 *
 * For a Node with a provider ID, `notListed` counts as one observation of absence; everything else is no observation.
 *
 * - `noInventory`: no inventory was taken yet, or none since the Node is known
 * - `notListed`: not shown, although the part of the cloud that would hold it answered in full. No proof: lists may be
 *   filtered, and an instance on its way to another part may for a while be in neither. Only
 *   {@linkcode Provider.readInstance} proves absence
 * - `unreachable`, `throttled`, `denied`, `protocol`: as {@linkcode CloudErrorKind}
 * - `notCovered`: a part of the cloud that may hold it does not answer (a lost pool), was never seen, or is not known
 * - `partLost`: as `notCovered`, and only parts other than its own are lost: see {@linkcode ReadOptions}
 * - `undecodable`: the cloud shows it, in a form that cannot be read
 * - `ambiguous`: more than one instance fits
 * - `malformedProviderId`: the provider ID is of this cloud but cannot be read
 * - `noIdentity`: the Node tells nothing to look it up by
 * - `notFound`: looked up by everything the Node tells, with a clear no; for a Node that was never matched
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

/** How an instance is asked for. */
export interface ReadOptions {
  /**
   * Whether its absence may be proven while other parts of the cloud than its own are lost: only of an instance that
   * stayed in its own part for long enough after they were. A cloud without parts has no use for it.
   *
   * @default {false}
   */
  readonly mayPartsBeLost?: boolean;
}

/** What a cloud can say about a Node's machine. Only `absent` may ever destroy anything. */
export type Presence =
  | {
      readonly kind: "present";
      readonly instance: Instance;
      readonly matchedBy: MatchedBy;
      /** What a person should know of it and do about it; no full stop, no secret. */
      readonly caution?: string;
    }
  /** Proven gone: only for a Node whose provider ID names the instance. `evidence` says by what. */
  | { readonly kind: "absent"; readonly evidence: string }
  /** `message` tells a person what is wrong and what to do; no full stop, no secret. */
  | { readonly kind: "unknown"; readonly reason: UnknownReason; readonly message: string }
  /** Somebody else's. Without a `message`: its provider ID belongs to another cloud. */
  | { readonly kind: "foreign"; readonly providerId?: string; readonly message?: string };

/** A cloud. */
export interface Provider {
  /** Name for `--cloud-provider`, logs and metrics. */
  readonly name: string;
  /**
   * Whether the IP addresses that a kubelet was started with (`--node-ip`) stand on their own (`trusted`: the cloud may
   * not know what a guest uses), or must be among those the cloud reports (`verified`).
   */
  readonly providedNodeIps: "trusted" | "verified";
  /** Labels whose value before the first move of a machine is kept: key of the label, and the key that keeps it. */
  readonly originLabels?: Readonly<Record<string, string>>;
  /**
   * Keys of the labels that instances ask for, as far as they are known, beside those of region, zone and type: for
   * people alone, who look at a Node while its instance is not shown. @default {none}
   */
  readonly labelKeys?: ReadonlySet<string>;
  /** How often the inventory is refreshed, in milliseconds. */
  readonly refreshIntervalMs: number;
  /**
   * Takes one inventory, in a number of requests that does not depend on the number of Nodes.
   *
   * @param interest The Nodes that are cared about; a provider may list only these. None: everything is listed
   * @throws {CloudError} when the cloud cannot answer; the last inventory stays in use
   */
  listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory>;
  /**
   * Finds a Node's instance in an inventory: memory only, never `absent`. What it means when there is none, see
   * {@linkcode UnknownReason}. `present` stands until the next list as long as the Node and the instance are the same
   * and no other instance appears.
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
  /** How the cloud tells of changes as they happen. Absent: it tells nothing by itself. */
  readonly changes?: Changes;
  /**
   * Looks at the cloud once, for a person who sets it up: whether it answers, as whom, and what it lets see. What goes
   * wrong is a finding; rejects only when the signal aborts. Changes nothing, and leaves nothing behind when the
   * provider was made to be transient. Absent: the inventory says all there is.
   */
  inspect?(signal: AbortSignal): Promise<Inspection>;
  /**
   * The cloud's ID of the instance that a provider ID names, however that ID is written: with another pool, in another
   * case, in an old form. Memory only. Absent, or `undefined`: two provider IDs name one instance when they are equal.
   */
  toInstanceId?(providerId: string): string | undefined;
  /**
   * Where an instance is, for people alone: the largest place first, what is not known left out.
   *
   * Absent: its region and zone are all there is to tell.
   *
   * @param instance Absent when the cloud does not show it now
   * @param labels Those of its Node, which tell where it was last seen
   */
  toPlaces?(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[];
}
