/**
 * What a step of a machine is carried out with: the caller keeps what the cloud must know after a restart.
 * @module
 */
import type { Fence } from "../../core/fence.ts";

/** Where the caller keeps what the cloud must know about a machine after a restart. */
export interface MachineRecord {
  /** The text that was kept last. A hint, never a proof. */
  readonly text: string | undefined;
  /**
   * Keeps a text, at most 1 KiB; `undefined` removes it. Resolves when Kubernetes has it: a process that starts after a
   * crash then finds it. Records of several machines that are saved at the same time cost one request.
   *
   * @throws {KubeError} if Kubernetes refuses; then the step must not go on
   */
  save(text: string | undefined, signal: AbortSignal): Promise<void>;
}

/** What a step is carried out with. */
export interface MachineStepContext {
  readonly record: MachineRecord;
  /** Asked right before each request that changes the cloud. */
  readonly fence: Fence;
}
