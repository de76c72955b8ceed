/**
 * Lists the public IP addresses that were taken for Services of this cluster which do not exist any more. Pure.
 *
 * Only tags count: another cluster of the same account may have rules whose names look the same. And nothing may be
 * released because of this list. Kubernetes may have been restored from an old backup, or be a copy of the cluster.
 * @module
 */
import type {
  LiveServices,
  LoadBalancerLeftover,
} from "../../../../cloud/capabilities/load_balancers.ts";
import type { Finding } from "../../../../cloud/inspection.ts";
import { quote } from "../../../../core/text/printable.ts";
import { parseRuleName, toLbName } from "../rule_names.ts";
import { listRulesOn } from "./on_addresses.ts";
import type { View } from "../view.ts";
import { isOfCluster, TAG_KEYS } from "../words.ts";

/** More leftovers than these are counted, and not named. */
const NAMED_MAX = 20;

/**
 * The addresses whose tags name this cluster and the UID of a Service that does not exist, in order of their IPs; but
 * none that another Service uses: that has a rule on it, names it or shows it.
 *
 * @param services Besides those that exist, with the UIDs of those that are being released
 */
export function listLeftovers(
  view: Pick<View, "addresses" | "rules" | "clusterIds">,
  services: LiveServices,
): readonly LoadBalancerLeftover[] {
  const unclaimed = [...view.addresses.values()].flatMap(({ id, ip, tags }) => {
    const serviceUid = tags.get(TAG_KEYS.serviceUid);
    if (serviceUid === undefined || services.uids.has(serviceUid)) return [];
    if (!isOfCluster(tags, view.clusterIds) || services.addresses.has(ip)) return [];
    return [{ ip, id, service: tags.get(TAG_KEYS.service), serviceUid, on: listRulesOn(view, id) }];
  });
  if (unclaimed.length === 0) return [];
  const lbNames = new Set(Array.from(services.uids, toLbName));
  return unclaimed
    .filter(({ on }) => !on.some(({ name }) => lbNames.has(parseRuleName(name)?.lbName ?? "")))
    .map(({ service, on, ...one }) => ({
      ...one,
      ...(service !== undefined && { service }),
      rules: on.length,
    }))
    .toSorted((a, b) => compare(a.ip, b.ip) || compare(a.id, b.id));
}

/** What `landfall check` says about them. */
export function toLeftoverFindings(leftovers: readonly LoadBalancerLeftover[]): Finding[] {
  const code = "loadBalancerLeftover";
  const found = leftovers.slice(0, NAMED_MAX).map((leftover): Finding => {
    const { ip, id, service, serviceUid, rules } = leftover;
    const who = service === undefined ? "a Service" : `Service ${quote(service)}`;
    const on = rules === 1 ? "1 load-balancer rule is" : `${rules} load-balancer rules are`;
    const tags = `its tags name this cluster and ${who} with UID ${quote(serviceUid)}`;
    const message = `public IP ${ip} (${id}) has no Service: ${tags}, which does not exist; ${on} on it`;
    const advice =
      "if nothing needs it, also no copy of this cluster, release it with its rules: " +
      `cmk disassociate ipaddress id=${id}; or name it in spec.loadBalancerIP of a Service, which inherits it`;
    return { level: "warning", code, message, advice };
  });
  if (leftovers.length <= NAMED_MAX) return found;
  const message = `${leftovers.length - NAMED_MAX} more public IPs of this cluster have no Service`;
  return [...found, { level: "warning", code, message }];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
