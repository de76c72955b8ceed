/**
 * The interface between Landfall and every cloud. Providers implement it and controllers call it; neither imports the
 * other.
 * @module
 */
import type { LoadBalancers } from "./capabilities/load_balancers.ts";
import type { Machines } from "./capabilities/machines.ts";
import type { ProvenOff } from "./capabilities/proven_off.ts";
import { CloudError } from "./errors.ts";
import type { Inspection } from "./inspection.ts";
import type { Instance, NodeIdentity, Place } from "./instance.ts";
import type { Inventory } from "./inventory/inventory.ts";
import { describeError } from "../core/errors.ts";

/** How an instance was found for a Node. */
export type MatchedBy = "providerId" | "systemUuid" | "swappedSystemUuid" | "name";

/**
 * Why Landfall does not know whether an instance exists.
 *
 * For a Node with a provider ID, `notListed` counts as one observation of absence. No other reason counts as one.
 *
 * - `noInventory`: Landfall has taken no inventory yet, or none since it knows the Node
 * - `notListed`: the list does not show it, although the part of the cloud that would hold it answered in full. This is
 *   no proof: a cloud may filter lists, and while an instance moves to another part, neither part may show it. Only
 *   {@linkcode Provider.readInstance} proves absence
 * - `unreachable`, `throttled`, `denied`, `protocol`: as {@linkcode CloudErrorKind}
 * - `notCovered`: a part of the cloud that may hold it does not answer (a lost pool), was never shown, or is not known
 * - `partLost`: as `notCovered`, but only parts other than its own are lost; see {@linkcode ReadOptions}
 * - `undecodable`: the cloud shows it in a form that Landfall cannot read
 * - `ambiguous`: more than one instance matches
 * - `malformedProviderId`: the provider ID belongs to this cloud but is malformed
 * - `noIdentity`: the Node has no field by which to find the instance
 * - `notFound`: the cloud was asked by every field of the Node and shows no such instance; only for a Node that was
 *   never matched
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
   * Whether the provider may prove absence while parts of the cloud other than the instance's own are lost. The
   * provider then does so only for an instance that stayed in its own part for long enough after the loss. A cloud
   * without parts ignores this option.
   *
   * @default {false}
   */
  readonly mayPartsBeLost?: boolean;
}

/** The cloud's answer about a Node's machine. Only `absent` may cause a deletion. */
export type Presence = (
  | {
      readonly kind: "present";
      readonly instance: Instance;
      readonly matchedBy: MatchedBy;
      /** A warning for operators: what is unusual and what to do; no full stop, no secret. */
      readonly caution?: string;
    }
  /** Proven gone; only for an instance that a provider ID names. `evidence` is the proof, in words. */
  | { readonly kind: "absent"; readonly evidence: string }
  /** `message` tells an operator what is wrong and what to do; no full stop, no secret. */
  | {
      readonly kind: "unknown";
      readonly reason: UnknownReason;
      readonly message: string;
      /**
       * For a Node without a provider ID: that of the instance which an earlier inventory showed for it. The answer is
       * about this instance.
       */
      readonly formerId?: string;
    }
  /** Landfall does not manage this Node. Without a `message`, its provider ID belongs to another cloud. */
  | {
      readonly kind: "foreign";
      readonly providerId?: string;
      readonly message?: string;
      /** The setting `nodes.selector` leaves it out: that is no problem to report. */
      readonly isUnselected?: true;
    }
) & {
  /**
   * Another machine than that of the provider ID seems to be the Node's: which one, why, and what to do; no full stop.
   */
  readonly otherMachine?: string;
};

/** A cloud. */
export interface Provider {
  /** Name for `--cloud-provider`, logs and metrics. */
  readonly name: string;
  /**
   * Which IP addresses from a kubelet's `--node-ip` Landfall accepts. `trusted`: all, because the cloud may not know
   * which addresses a guest uses. `verified`: only those that the cloud reports.
   */
  readonly providedNodeIps: "trusted" | "verified";
  /** The parts of a Node that Landfall never writes, by the settings of the cloud. @default {nothing} */
  readonly unmanaged?: ReadonlySet<"addresses" | "zone">;
  /**
   * For each label whose first value must survive a move of the machine: its key, and the key of the label that keeps
   * it.
   */
  readonly originLabels?: Readonly<Record<string, string>>;
  /**
   * Keys of the labels that instances may set, besides those of region, zone and type. For display only, for a Node
   * whose instance the cloud does not show. @default {none}
   */
  readonly labelKeys?: ReadonlySet<string>;
  /** Time between two refreshes of the inventory, in milliseconds. */
  readonly refreshIntervalMs: number;
  /** What stays true with other settings, for the provider that replaces this one. @default {nothing} */
  readonly handover?: unknown;
  /**
   * Takes one inventory. The number of requests must not depend on the number of Nodes.
   *
   * @param interest The Nodes to look for; a provider may list only these. Empty: list everything. Nodes that are newer
   * than the request are not among them; a provider that finds machines by reused names waits for the next inventory
   * @throws {CloudError} when the cloud cannot answer; the last inventory stays in use
   */
  listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory>;
  /**
   * Finds a Node's instance in an inventory. Reads only memory, and never returns `absent`. If there is no instance,
   * {@linkcode UnknownReason} says why. `present` stays valid until the next list, as long as the Node and the instance
   * are the same and no other instance appears.
   */
  findInstance(inventory: Inventory, node: NodeIdentity): Presence;
  /**
   * Asks the cloud directly about one Node, if the inventory does not show its instance. Only this method may return
   * `absent`. If the cloud cannot answer, the result is `unknown`. Rejects only when the signal aborts.
   *
   * @param inventory The newest inventory, for example for the pool of the Node
   */
  readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence>;
  /** Reads the changes that the cloud reports as they happen. Absent: the cloud reports none. */
  readonly changes?: Changes;
  /** Proves that an instance is powered off. Absent: the cloud cannot prove it. */
  readonly provenOff?: ProvenOff;
  /** Makes load balancers for Services. Absent: the cloud has none. */
  readonly loadBalancers?: LoadBalancers;
  /** Makes and destroys machines. Absent: the cloud cannot. */
  readonly machines?: Machines;
  /**
   * Looks at the cloud once, for the operator who sets it up: whether it answers, as which user, and what is visible.
   * Returns problems as findings; rejects only when the signal aborts. Changes nothing. If the provider was created as
   * transient, it leaves nothing behind in the cloud. Absent: the caller inspects an inventory instead.
   */
  inspect?(signal: AbortSignal): Promise<Inspection>;
  /**
   * Returns the cloud's ID of the instance that a provider ID names. Must understand every form of a provider ID: with
   * another pool, in another case, in an old form. Reads only memory. Absent, or `undefined`: two provider IDs name the
   * same instance only when they are equal.
   */
  toInstanceId?(providerId: string): string | undefined;
  /**
   * Lists the places that hold an instance, the largest first, for display only. Places that are not known are missing.
   *
   * Absent: the page shows region and zone.
   *
   * @param instance Absent if the cloud does not show it now
   * @param labels The labels of its Node; they say where it was last seen
   */
  toPlaces?(
    instance: Instance | undefined,
    labels: Readonly<Record<string, string>>,
  ): readonly Place[];
  /** URL of the page where people see a machine in the cloud, for the debug page. Absent: there is none. */
  toPage?(instance: Pick<Instance, "id">): string;
}

/** Presence of a machine that may or may not exist. @param message What is wrong and what to do; no full stop */
export function toUnknown(reason: UnknownReason, message: string): Presence & { kind: "unknown" } {
  return { kind: "unknown", reason, message };
}

/** The same when the cloud gave no answer. The reason is the kind of the error, or `unreachable` for other errors. */
export function toUnanswered(error: unknown): Presence & { kind: "unknown" } {
  const reason = error instanceof CloudError ? error.kind : "unreachable";
  return toUnknown(reason, describeError(error));
}

/**
 * What may have changed in a cloud: these instances, by cloud ID, or anything. A hint is only a reason to look. It
 * never says what exists now, nor that something is gone.
 */
export type ChangeHint = ReadonlySet<string> | "everything";

/** Delivers hints, and reads the instances that they name. */
export interface Changes {
  /**
   * Reads the changes that the cloud reports, and calls `onHint` for each. Continues after every failure, and returns
   * when the signal aborts. While the connection is lost there are no hints; refreshes continue. After every gap in
   * which it may have missed a change, it gives the hint `everything`. If it cannot follow the changes
   * when it starts, it gives an empty hint, for which the first refresh waits.
   *
   * @param onHint The provider may call it at any time, often, and with instances that belong to no Node. Never throws
   */
  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads a few instances; the caller puts them into an older inventory. Never runs at the same time as
   * `Provider.listInventory`. Absent: every hint causes a refresh.
   *
   * @param ids Cloud IDs, at most eight
   * @returns The instances that the cloud shows, by ID, as in an inventory. The result says nothing about the others:
   * only an inventory can show that an instance is missing
   * @throws {CloudError} when the cloud cannot answer
   */
  readInstances?(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>>;
}
