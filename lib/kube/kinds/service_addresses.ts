/**
 * Services, reduced to their addresses. To keep these off Nodes, Landfall needs nothing else of thousands of Services.
 * @module
 */
import { isHostAddress, parseIp } from "../../core/net/ip.ts";
import { isFields } from "../../core/text/json.ts";
import type { Kind } from "./kind.ts";
import type { KubeObject } from "./resource.ts";

/** The addresses of a Service in canonical form, each list without duplicates. */
export interface ServiceAddresses extends KubeObject {
  /** Those that its spec or an annotation names. Any user of the Service can write them. */
  readonly named?: readonly string[];
  /** Those that its status shows. */
  readonly shown?: readonly string[];
}

/** Where kube-vip reads the addresses of a Service. Source: https://kube-vip.io/docs/usage/kubernetes-services/ */
const KUBE_VIP_IPS = "kube-vip.io/loadbalancerIPs";

/** Most addresses of one Service, so that no user fills the memory with them. */
const ADDRESSES_MAX = 64;

/** Addresses of Services. Another view of Services than that of the controller `service`. */
export const SERVICE_ADDRESSES: Kind<ServiceAddresses> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  keepsAnnotation: () => false,
  keep,
};

/** Of the whole object, which the store does not keep. Others wrote it: it may be anything. */
function keep(object: ServiceAddresses & { spec?: unknown; status?: unknown }): object {
  const { metadata, spec, status } = object;
  const balancer = isFields(status) ? status["loadBalancer"] : undefined;
  const ingress = isFields(balancer) ? balancer["ingress"] : undefined;
  const announced = metadata.annotations?.[KUBE_VIP_IPS];
  const named = toIps([
    ...toList(isFields(spec) ? spec["externalIPs"] : undefined),
    ...(typeof announced === "string" ? announced.split(",", ADDRESSES_MAX) : []),
  ]);
  const shown = toIps(toList(ingress).map((one) => (isFields(one) ? one["ip"] : undefined)));
  return {
    spec: undefined,
    status: undefined,
    ...(named.length > 0 && { named }),
    ...(shown.length > 0 && { shown }),
  };
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, ADDRESSES_MAX) : [];
}

function toIps(texts: readonly unknown[]): string[] {
  const ips = texts.flatMap((text) =>
    typeof text === "string" ? (parseIp(text)?.text ?? []) : [],
  );
  return [...new Set(ips.filter(isHostAddress))];
}
