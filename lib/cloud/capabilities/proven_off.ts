/**
 * The capability of a cloud to prove that an instance is powered off.
 * @module
 */
import type { Inventory } from "../inventory/inventory.ts";
import type { NodeIdentity } from "../node_identity.ts";

/** Whose instance is asked about. */
export interface PowerQuestion {
  /** The newest inventory. */
  readonly inventory: Inventory;
  readonly node: NodeIdentity;
  /** The labels of the Node. They may add a doubt, and never take one away. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a cloud answers about the power of an instance. */
export type PowerReading =
  /** Proven: nothing of the instance runs, and nothing is under way that starts it. `evidence` says by what. */
  | { readonly kind: "off"; readonly evidence: string }
  /** It runs, or is paused or suspended: it may go on at any moment. */
  | { readonly kind: "on" }
  /** Neither. `message` tells a person why; no full stop, no secret. */
  | { readonly kind: "unproven"; readonly message: string };

/**
 * Proof that an instance is powered off. Another machine may use its volumes by that proof, so a cloud has this
 * capability only if it is the source of truth about power, and not if people or agents keep its records.
 */
export interface ProvenOff {
  /**
   * Whether an inventory shows the instance of a Node as off, in a part of the cloud that answered in full. Memory
   * only. It is an observation, and never a proof. Only an instance that the provider ID names counts.
   */
  isShownOff(question: PowerQuestion): boolean;
  /**
   * Asks the cloud directly, right before something depends on it. A cloud that cannot answer gives `unproven`; rejects
   * only when the signal aborts.
   */
  readPower(question: PowerQuestion, signal: AbortSignal): Promise<PowerReading>;
}
