/**
 * Plans what keeps rules useful that are not as the Service asks, because something is in the way. Pure.
 * @module
 */
import type { LoadBalancerSpec } from "../../../../cloud/capabilities/load_balancers.ts";
import { planBackends } from "./backends.ts";
import type { GateSite } from "../clients/firewall.ts";
import { findGate, isGate, planGate } from "../clients/gate.ts";
import { isOwnOrProven } from "./ownership.ts";
import { planClosing } from "./removal.ts";
import { inPart, type Scene, toGatePort, toPart } from "./scene.ts";
import type { Step } from "../steps.ts";
import type { Rule } from "../view.ts";

/**
 * Plans rules that stay as they are for now: who may reach them, and their backends. So Nodes come and go as usual, and
 * clients that may no longer connect are kept out at once. So are all clients of a port that the Service does not ask
 * for any more: it says nothing about who may connect there.
 *
 * @param who Who may connect. Absent: not known, so nothing is changed about it
 */
export function planKeeping(
  scene: Scene,
  rules: readonly Rule[],
  { ports, backends }: Pick<LoadBalancerSpec, "backends" | "ports">,
  who?: { readonly sources?: readonly string[] },
): readonly Step[] {
  const asked = new Set(ports.map(({ protocol, port }) => `${protocol} ${port}`.toLowerCase()));
  return rules.flatMap((rule) => {
    const { ipProtocol, publicPort } = toGatePort(rule);
    const isAsked = asked.has(`${ipProtocol} ${publicPort}`);
    return [
      ...(who === undefined ? [] : planClients(scene, rule, { ...who, isAsked })),
      ...planBackends(scene, rule, backends),
    ];
  });
}

function planClients(
  scene: Scene,
  rule: Rule,
  { sources, isAsked }: { readonly sources?: readonly string[]; readonly isAsked: boolean },
): readonly Step[] {
  const part = toPart(rule);
  const isNeeded = (): boolean => false;
  if (!isAsked) return inPart(part, planClosing(scene, rule, isNeeded));
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
  return inPart(part, [...before, ...after]);
}
