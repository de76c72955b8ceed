/**
 * Plans the status of a Service. Pure.
 * @module
 */
import type { LoadBalancerIngress } from "../../../cloud/capabilities/load_balancers.ts";
import type { Service, ServiceIngress } from "../../../kube/kinds/service.ts";

/**
 * Whether a status shows these entries, in this order. A missing `ipMode` is `VIP`: API servers fill it in, or do not
 * know it.
 *
 * @param options.dropsIpMode Whether the API server does not keep `ipMode`
 */
export function showsIngress(
  { status }: Pick<Service, "status">,
  wanted: readonly LoadBalancerIngress[],
  options: { readonly dropsIpMode: boolean },
): boolean {
  const actual = status?.loadBalancer?.ingress ?? [];
  const { dropsIpMode } = options;
  return (
    actual.length === wanted.length &&
    wanted.every((one, at) => toText(actual[at], dropsIpMode) === toText(one, dropsIpMode))
  );
}

/** Whether a Service has these annotations; `undefined`: it must not have one. */
export function showsAnnotations(
  { metadata }: Pick<Service, "metadata">,
  wanted: Readonly<Record<string, string | undefined>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata.annotations?.[key] === value);
}

/** Whether an API server dropped `ipMode` from what it was given. */
export function hasDroppedIpMode(
  answer: Pick<Service, "status">,
  given: readonly LoadBalancerIngress[],
): boolean {
  const kept = answer.status?.loadBalancer?.ingress ?? [];
  return given.some(
    (one, at) =>
      "ip" in one && one.ipMode !== undefined && kept[at]?.ip === one.ip && !kept[at]?.ipMode,
  );
}

function toText(
  entry: ServiceIngress | LoadBalancerIngress | undefined,
  dropsIpMode: boolean,
): string {
  const { ip = "", hostname = "", ipMode = "VIP" }: ServiceIngress = { ...entry };
  return JSON.stringify([ip, hostname, ip === "" || dropsIpMode ? "" : ipMode]);
}
