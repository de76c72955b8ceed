/**
 * What is said when Kubernetes refuses IPPools.
 * @module
 */
import { describeError } from "../../../../core/errors.ts";
import { KubeError, type KubeErrorKind } from "../../../../kube/api/errors.ts";

/** Kubernetes refuses IPPools, and will do so until a person changes something. No full stop at the end. */
export class IpPoolError extends Error {
  override readonly name = "IpPoolError";
}

const FINAL: ReadonlySet<KubeErrorKind> = new Set(["forbidden", "invalid", "notFound"]);

/**
 * Says of a refusal what a person can do.
 *
 * @param namespace Of all pools
 * @returns The error itself if a try again may help
 */
export function explainRefusal(error: unknown, namespace: string): unknown {
  if (!(error instanceof KubeError) || !FINAL.has(error.kind)) return error;
  if (error.message.includes(`namespaces "${namespace}" not found`)) {
    const message =
      `namespace ${namespace} does not exist, and --ip-pool-namespace says that all IPPools are there. ` +
      "Correct the flag, or create the namespace";
    return new IpPoolError(message, { cause: error });
  }
  const message = `the API server refuses the IPPools in namespace ${namespace}: ${describeError(error)}`;
  const advice =
    error.kind === "invalid" ? "" : ". Run landfall check, which names what is missing";
  return new IpPoolError(`${message}${advice}`, { cause: error });
}
