/**
 * Networks of a simulated CloudStack for tests.
 * @module
 */
import { toNetwork, type Network } from "../../../lib/simulator/cloudstack/world/records.ts";
import { DEFAULT_ALLOW, DEFAULT_DENY } from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import type { Fields } from "./cloudstack_asks.ts";
import type { CloudStackRig } from "./cloudstack_rig.ts";
import { toAclList, toVpc } from "./cloudstack_rules.ts";

/** A network by its name. */
export function networkOf({ simulator }: CloudStackRig, name: string): Network {
  const found = [...simulator.state.networks.values()].find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`Cannot find network "${name}"`);
  return found;
}

/** What {@linkcode addTier} takes. */
interface TierOptions {
  /** @default {the cluster's account} */
  readonly accountId?: string | undefined;
  /** Which of the lists that are always there it has, or one of its own. @default {"own"} */
  readonly acl?: "own" | "allow" | "deny";
}

/** A tier, its VPC and its list of network ACL items. */
export interface Tier extends Network {
  readonly vpcId: string;
  readonly aclId: string;
}

/** Adds a tier of a VPC of its own. */
export function addTier(
  { simulator: { state }, story }: CloudStackRig,
  name: string,
  { accountId = story.accountIds.acme, acl = "own" }: TierOptions = {},
): Tier {
  const zoneId = story.zoneIds.paris;
  const vpc = toVpc(`vpc-of-${name}`, zoneId, accountId);
  state.vpcs.set(vpc.id, vpc);
  const own = toAclList(`acl-of-${name}`, vpc);
  const aclList = { own, allow: DEFAULT_ALLOW, deny: DEFAULT_DENY }[acl];
  if (acl === "own") state.aclLists.set(own.id, own);
  const network = toNetwork({ name, zoneId, accountId, prefix: "10.30.0.", vpc, aclList });
  const tier = { ...network, vpcId: vpc.id, aclId: aclList.id };
  state.networks.set(tier.id, tier);
  return tier;
}

/** Takes an address for a network, or for the VPC that it is a tier of. Returns the address's ID. */
export async function takeAddress(rig: CloudStackRig, network: Network): Promise<string> {
  const place = network.vpcId === undefined ? { networkid: network.id } : { vpcid: network.vpcId };
  const done = await rig.change("associateIpAddress", place);
  if (done.code !== 0) throw new Error(done.text);
  return done.id;
}

/** Makes a load-balancer rule on an address. Returns its ID. */
export async function makeRule(
  rig: CloudStackRig,
  publicipid: string,
  fields: Fields = {},
): Promise<string> {
  const wanted = { algorithm: "roundrobin", name: "web", privateport: "30080", publicport: "80" };
  const all = { ...wanted, openfirewall: "false", publicipid, ...fields };
  const done = await rig.change("createLoadBalancerRule", all);
  if (done.code !== 0) throw new Error(done.text);
  return done.id;
}
