/**
 * Networks of a simulated CloudStack for tests.
 * @module
 */
import { toNetwork, type Network } from "../../../lib/simulator/cloudstack/world/records.ts";
import type { Fields } from "./cloudstack_asks.ts";
import type { CloudStackRig } from "./cloudstack_rig.ts";

/** A network by its name. */
export function networkOf({ simulator }: CloudStackRig, name: string): Network {
  const found = [...simulator.state.networks.values()].find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`Cannot find network "${name}"`);
  return found;
}

/** Adds a tier of a VPC of its own, by default of the cluster's account. */
export function addTier(
  { simulator, story }: CloudStackRig,
  name: string,
  accountId: string = story.accountIds.acme,
): Network & { readonly vpcId: string } {
  const zoneId = story.zoneIds.paris;
  const services = ["Lb", "NetworkACL", "SourceNat", "StaticNat", "PortForwarding", "Dhcp", "Dns"];
  const network = toNetwork({ name, zoneId, accountId, prefix: "10.30.0.", services });
  const tier = { ...network, vpcId: `vpc-of-${name}` };
  simulator.state.networks.set(tier.id, tier);
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
