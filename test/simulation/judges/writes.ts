/**
 * What a process may change of a Node and of a Service, and what it must leave as it is.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { type LabelWords, findBetaTwin } from "../world/cloud.ts";
import type { TransportRequest } from "../../../lib/kube/api/request.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";

/** Annotations of ours. */
const OUR_ANNOTATIONS: ReadonlySet<string> = new Set([
  "landfall.dev/labels-from-tags",
  "landfall.dev/out-of-service",
]);
const OUR_TAINTS: ReadonlySet<string> = new Set([
  "node.cloudprovider.kubernetes.io/uninitialized",
  "node.cloudprovider.kubernetes.io/shutdown",
  "node.kubernetes.io/out-of-service",
]);

/** What a write may say. */
interface Written {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly metadata?: { readonly resourceVersion?: string };
  readonly spec?: { readonly taints?: unknown };
  readonly status?: { readonly addresses?: unknown };
}

/**
 * Names everything that a write of ours did and may not do.
 *
 * @param wasTrue Whether a label was true of the Node's machine when the author last could know
 */
export function listTrespasses(
  { before, after }: { readonly before: Node; readonly after: Node },
  { ours, passing }: LabelWords,
  wasTrue: (key: string, value: string | undefined) => boolean,
): string[] {
  const trespasses: string[] = [];
  if (!isDeepStrictEqual(toTheirs(before, ours), toTheirs(after, ours)))
    trespasses.push("what is not ours");
  const providerId = before.spec?.providerID;
  if (providerId !== undefined && providerId !== after.spec?.providerID)
    trespasses.push(`its provider ID was ${providerId}`);
  const labels = after.metadata.labels ?? {};
  const old = before.metadata.labels ?? {};
  for (const key of ours) {
    const value = labels[key];
    if (value === old[key]) continue;
    const isTwin = value === old[findBetaTwin(key) ?? ""];
    if (value === undefined) {
      const mayGo = passing.includes(key) && wasTrue(key, undefined);
      if (!mayGo) trespasses.push(`it loses label ${key}`);
    } else if (!isTwin && !wasTrue(key, value)) {
      trespasses.push(`label ${key}=${value} was not true`);
    }
  }
  return trespasses;
}

/** Names what a write should say of the Node that it is meant for, so that it never meets another one, and does not. */
export function listLacks({ method, body = "{}" }: TransportRequest): string[] {
  const { preconditions, metadata, spec, status } = JSON.parse(body) as Written;
  if (method === "DELETE") {
    const isBound = Boolean(preconditions?.uid && preconditions.resourceVersion);
    return isBound ? [] : ["the deletion may meet another Node than the one that was read"];
  }
  // Lists are replaced whole, with whatever others wrote into them meanwhile.
  const hasList = spec?.taints !== undefined || status?.addresses !== undefined;
  return hasList && !metadata?.resourceVersion ? ["a list without the resourceVersion"] : [];
}

/** A Node without what is ours and what each write changes. */
function toTheirs(node: Node, ours: LabelWords["ours"]): unknown {
  const {
    resourceVersion: _1,
    managedFields: _2,
    labels = {},
    annotations = {},
    ...metadata
  } = { ...node.metadata } as Record<string, unknown> &
    Pick<Node["metadata"], "labels" | "annotations">;
  const { taints = [], providerID: _3, ...spec } = { ...node.spec };
  const { addresses: _4, ...status } = { ...node.status };
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: Object.entries(labels).filter(([key]) => !ours.has(key)),
      annotations: Object.entries(annotations).filter(([key]) => !OUR_ANNOTATIONS.has(key)),
    },
    spec: { ...spec, taints: taints.filter(({ key }) => !OUR_TAINTS.has(key)) },
    status,
  };
}

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
