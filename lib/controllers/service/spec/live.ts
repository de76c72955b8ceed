/**
 * Says what Services exist, and which addresses they use, to tell what is left over in a cloud. Pure.
 * @module
 */
import type { LiveServices } from "../../../cloud/capabilities/load_balancers.ts";
import { parseIp } from "../../../core/net/ip.ts";
import type { Service } from "../../../kube/kinds/service.ts";

/** Reads all Services of a cluster. One of another class or type counts: another process may serve it, or may again. */
export function toLiveServices(services: Iterable<Service>): LiveServices {
  const uids = new Set<string>();
  const addresses = new Set<string>();
  for (const { metadata, spec, status } of services) {
    if (metadata.uid !== undefined) uids.add(metadata.uid);
    if (spec?.type !== "LoadBalancer") continue;
    const asked = spec.loadBalancerIP ? parseIp(spec.loadBalancerIP)?.text : undefined;
    // What a status shows, a controller wrote in this form.
    const shown = status?.loadBalancer?.ingress ?? [];
    for (const ip of [asked, ...shown.map((one) => one.ip)]) {
      if (ip !== undefined) addresses.add(ip);
    }
  }
  return { uids, addresses };
}
