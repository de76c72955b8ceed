/**
 * Releases an address, after a last look at what uses it: CloudStack removes every rule on an address with it.
 * @module
 */
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import { isLeftBehind } from "../reading/inheritance.ts";
import type { ChangeOf } from "../steps.ts";
import type { PublicAddress } from "../view.ts";
import { isTaggedFor } from "../words.ts";
import { type Acting, sendRemoval, toProject } from "./acting.ts";
import { readAddress } from "./addresses.ts";

/**
 * Releases an address if it is ours, or was left behind by a Service that is gone, and nothing is on it. If not, it
 * releases nothing, and the next look or the store shows why.
 */
export async function releaseAddress(
  { addressId }: ChangeOf<"releaseAddress">,
  acting: Acting,
): Promise<void> {
  const { store, record } = acting;
  const address = await readAddress(addressId, acting);
  if (address === undefined || !isOurs(address, acting)) return store.invalidate();
  if (address.isSourceNat || address.isStaticNat) return store.putAddress(address);
  const use = await findUse(address, acting);
  if (use === "visible") return store.invalidate();
  if (use !== undefined) return store.putAddress({ ...address, usedBy: use });
  // A Service that was losing its load balancer may be getting one again.
  if (!isOurs(address, acting)) return store.invalidate();
  await sendRemoval(acting, "disassociateIpAddress", addressId);
  store.dropAddress(addressId);
  await record.forgetAddress(address);
}

function isOurs({ tags }: PublicAddress, { store, owner }: Acting): boolean {
  const { view } = store;
  if (view === undefined) return false;
  return isTaggedFor(tags, view.clusterIds, owner.uid) || isLeftBehind(view, tags, owner.uid);
}

/** What is on an address: `visible` if a look shows it, otherwise in words; `undefined` if nothing is. */
async function findUse(
  { id, hasRules }: PublicAddress,
  acting: Acting,
): Promise<string | undefined> {
  // The server counts rules of every kind.
  if (hasRules === false) return undefined;
  const [rules, firewallRules, forwardings] = await Promise.all([
    count("listLoadBalancerRules", "loadbalancerrule", { publicipid: id }, acting),
    count("listFirewallRules", "firewallrule", { ipaddressid: id }, acting),
    count("listPortForwardingRules", "portforwardingrule", { ipaddressid: id }, acting),
  ]);
  if (rules + firewallRules > 0) return "visible";
  if (forwardings > 0)
    return forwardings === 1 ? "a port forwarding" : `${forwardings} port forwardings`;
  return hasRules ? "a rule of another kind" : undefined;
}

/** @throws {CloudError} also if the list is not whole */
async function count(
  command: string,
  key: string,
  params: Readonly<Record<string, string>>,
  acting: Acting,
): Promise<number> {
  const { session, signal } = acting;
  const asked = { listall: "true", ...params, ...toProject(acting) };
  const schema = LB_SCHEMAS.identified;
  const list = await session.list({ command, key, params: asked, schema }, signal);
  return list.objects.length + list.undecodable.size + (list.gap === undefined ? 0 : 1);
}
