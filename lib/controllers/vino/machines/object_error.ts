/**
 * What is said when Kubernetes refuses the object of a machine.
 * @module
 */
import { describeError } from "../../../core/errors.ts";
import { KubeError, type KubeErrorKind } from "../../../kube/api/errors.ts";

/** Kubernetes refuses an object of a machine, and not only for a moment. No full stop at the end. */
export class MachineObjectError extends Error {
  override readonly name = "MachineObjectError";
}

/** The answers that may pass by themselves: another program was faster, the watch is late, the server is busy. */
const PASSING: ReadonlySet<KubeErrorKind> = new Set([
  "alreadyExists",
  "conflict",
  "notFound",
  "unavailable",
]);
const LASTING_MS = 15_000;

/**
 * Says which object Kubernetes refuses.
 *
 * @param name Of the object
 * @param forMs How long it has been refused
 * @returns The error itself if it is of another kind, or may pass
 */
export function explainRefusal(error: unknown, name: string, forMs: number): unknown {
  if (!(error instanceof KubeError)) return error;
  const isLasting = PASSING.has(error.kind) ? forMs >= LASTING_MS : error.kind === "invalid";
  if (!isLasting) return error;
  const message = `the API server refuses VinoMachine ${name}: ${describeError(error)}`;
  return new MachineObjectError(message, { cause: error });
}
