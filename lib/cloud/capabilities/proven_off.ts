/**
 * The capability of a cloud to prove that an instance is powered off.
 * @module
 */
import type { Inventory } from "../inventory/inventory.ts";
import type { NodeIdentity } from "../instance.ts";

/** The Node whose instance to read. */
export interface PowerQuestion {
  /** The newest inventory. */
  readonly inventory: Inventory;
  readonly node: NodeIdentity;
  /** The labels of the Node. They say where its instance ran if this process never saw it running. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The answer of a cloud about the power of an instance. */
export type PowerReading =
  /** Proven: nothing of the instance runs, and no operation is starting it. `evidence` says how. */
  | { readonly kind: "off"; readonly evidence: string }
  /** It runs, or is paused or suspended: it may continue at any moment. */
  | { readonly kind: "on" }
  /** The cloud cannot prove either. `message` tells an operator why; no full stop, no secret. */
  | { readonly kind: "unproven"; readonly message: string };

/**
 * Proof that an instance is powered off. After that proof, another machine may use its volumes. So a cloud has this
 * capability only if it controls the power itself, and not if people or agents maintain its records.
 */
export interface ProvenOff {
  /**
   * Begins to remember what the answers need, for example where instances run. A controller that asks calls this when
   * it is created; without it nothing is remembered. @default {the answers need no memory}
   */
  prepare?(): void;
  /**
   * Whether an inventory shows the instance of a Node as off, in a part of the cloud that answered in full. Reads only
   * memory. The result is an observation, never a proof. Only the instance that the provider ID names counts.
   */
  isShownOff(question: PowerQuestion): boolean;
  /**
   * Asks the cloud directly, right before a write that depends on the answer. If the cloud cannot answer, the result is
   * `unproven`. Rejects only when the signal aborts.
   */
  readPower(question: PowerQuestion, signal: AbortSignal): Promise<PowerReading>;
}
