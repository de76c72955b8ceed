/**
 * What the status of a Service shows. Pure.
 * @module
 */
import type { LoadBalancerIngress } from "../../../../cloud/capabilities/load_balancers.ts";
import type { Wanted } from "../wanted/wanted.ts";

/**
 * The status of a load balancer that works: the hostname alone, or the IP. With the PROXY protocol on a port, traffic
 * from inside the cluster must take the way through the load balancer, too, which the mode says.
 */
export function toIngress(
  { hostname, ports }: Pick<Wanted, "hostname" | "ports">,
  ip: string,
): readonly LoadBalancerIngress[] {
  if (hostname !== undefined) return [{ hostname }];
  const isProxy = ports.some(({ protocol }) => protocol === "tcp-proxy");
  return [{ ip, ipMode: isProxy ? "Proxy" : "VIP" }];
}
