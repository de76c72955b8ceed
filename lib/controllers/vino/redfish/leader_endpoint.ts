/**
 * Points a Service of Kubernetes to the leader. Pods are ready whether they lead or not, because a rollout
 * waits for that; so the Service has no selector, and its endpoint is written by the leader.
 * @module
 */
import { type Clock, toBackoffMs, withDeadline } from "../../../core/clock.ts";
import { describeError } from "../../../core/errors.ts";
import { type Logger, MessageDedup } from "../../../core/log.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import type { KubeObject, Resource } from "../../../kube/kinds/resource.ts";
import { toAddressType, toSliceName } from "./words.ts";

/** The endpoint of this process. */
export interface ServiceEndpoint {
  readonly namespace: string;
  /** Name of the Service. */
  readonly service: string;
  /** IP address of the Pod. */
  readonly ip: string;
  readonly port: number;
}

/** What {@linkcode runLeaderEndpoint} needs. */
interface LeaderEndpointOptions {
  readonly client: Pick<KubeClient, "patch">;
  readonly endpoint: ServiceEndpoint;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The endpoints of a Service, in parts. */
export const ENDPOINT_SLICES: Resource<KubeObject> = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};

/** How often it is written again, in case something else changed it. */
const REPEAT_MS = 60_000;
const RETRY = { baseMs: 2_000, capMs: REPEAT_MS } as const;
/** For the last write, before another process leads. */
const LEAVE_MS = 2_000;
/** The name under which fields are owned. Frozen: it must not change. */
const FIELD_MANAGER = "landfall-vino-redfish";

/** Writes the endpoint until the signal aborts, and then that there is none. Never rejects. */
export async function runLeaderEndpoint(
  { client, endpoint, clock, log }: LeaderEndpointOptions,
  signal: AbortSignal,
): Promise<void> {
  const reported = new MessageDedup();
  let failures = 0;
  while (!signal.aborted) {
    try {
      await apply(client, toEndpointSlice(endpoint, true), signal);
      failures = 0;
      reported.end();
    } catch (error) {
      failures += 1;
      const { namespace, service } = endpoint;
      if (!signal.aborted && reported.isNew(describeError(error))) {
        log.warn("Cannot point the Service for Redfish to this process", {
          namespace,
          service,
          error,
        });
      }
    }
    await clock
      .sleep(failures > 0 ? toBackoffMs(failures, RETRY) : REPEAT_MS, signal)
      .catch(() => {});
  }
  const leaving = withDeadline(new AbortController().signal, LEAVE_MS, clock);
  // The next leader writes its own.
  await apply(client, toEndpointSlice(endpoint, false), leaving).catch(() => {});
}

/** The object. @param isServed Whether this process serves; otherwise the Service has no endpoint */
export function toEndpointSlice(
  { namespace, service, ip, port }: ServiceEndpoint,
  isServed: boolean,
): KubeObject & Readonly<Record<string, unknown>> {
  const { apiVersion, kind } = ENDPOINT_SLICES;
  const labels = {
    "kubernetes.io/service-name": service,
    "endpointslice.kubernetes.io/managed-by": FIELD_MANAGER,
  };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name: toSliceName(service, ip), labels },
    addressType: toAddressType(ip),
    endpoints: isServed ? [{ addresses: [ip], conditions: { ready: true } }] : [],
    ports: [{ name: "redfish", protocol: "TCP", port }],
  };
}

async function apply(
  client: Pick<KubeClient, "patch">,
  body: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name } = body.metadata;
  const patch = { type: "apply", body, fieldManager: FIELD_MANAGER } as const;
  await client.patch(ENDPOINT_SLICES, { namespace, name }, patch, signal);
}
