/**
 * Plans what keeps rules useful that are not as the Service asks, because something is in the way. Pure.
 * @module
 */
import type { LoadBalancerBackend } from "../../../../cloud/capabilities/load_balancers.ts";
import { planBackends } from "./backends.ts";
import type { GateSite } from "../clients/firewall.ts";
import { findGate, isGate, planGate } from "../clients/gate.ts";
import { isOwnOrProven } from "./ownership.ts";
import { inPart, type Scene, toGatePort, toPart } from "./scene.ts";
import type { Step } from "../steps.ts";
import type { Rule } from "../view.ts";

/**
 * Plans rules that stay as they are for now: who may reach them, and their backends. So Nodes come and go as usual, and
 * clients that may no longer connect are kept out at once.
 *
 * @param who Who may connect. Absent: not known, so nothing is changed about it
 */
export function planKeeping(
  scene: Scene,
  rules: readonly Rule[],
  backends: readonly LoadBalancerBackend[],
  who?: { readonly sources?: readonly string[] },
): readonly Step[] {
  return rules.flatMap((rule) => [
    ...(who === undefined ? [] : planClients(scene, rule, who.sources)),
    ...planBackends(scene, rule, backends),
  ]);
}

function planClients(
  scene: Scene,
  rule: Rule,
  sources: readonly string[] | undefined,
): readonly Step[] {
  const { view } = scene;
  const address = view.addresses.get(rule.addressId);
  const network = view.networks.get(rule.networkId);
  const gate = network && findGate(view, network);
  if (address === undefined || gate === undefined || !isGate(gate)) return [];
  const site: GateSite = {
    scene,
    address,
    networkId: rule.networkId,
    port: toGatePort(rule),
    sources,
    rule,
    isOwn: isOwnOrProven(scene, address),
  };
  const { before, after } = planGate(gate, site);
  return inPart(toPart(rule), [...before, ...after]);
}
