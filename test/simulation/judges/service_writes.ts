/**
 * Whether a process changes what is its own of a Service, and nothing else.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Service } from "../../../lib/kube/kinds/service.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
/** What a process needs after a restart, and what it says to the Apache provider. */
const OWN: ReadonlySet<string> = new Set([
  "landfall.dev/load-balancer",
  "service.beta.kubernetes.io/cloudstack-load-balancer-ip-associated-by-controller",
]);

/** Says what a process changed of a Service that it may not change. A Service goes with its last finalizer. */
export function listServiceTrespasses(
  before: Service | undefined,
  after: Service | undefined,
): string[] {
  if (before === undefined) return ["it is not for a process to make one"];
  if (after === undefined)
    return before.metadata.deletionTimestamp === undefined ? ["it is deleted"] : [];
  const parts: Readonly<Record<string, (service: Service) => unknown>> = {
    spec: ({ spec }) => spec,
    labels: ({ metadata }) => metadata.labels,
    annotations: ({ metadata }) =>
      Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN.has(key)),
    finalizers: ({ metadata }) => metadata.finalizers?.filter((one) => one !== FINALIZER) ?? [],
  };
  return Object.entries(parts)
    .filter(([, read]) => !isDeepStrictEqual(read(before), read(after)))
    .map(([what]) => `its ${what} differ`);
}
