/**
 * What the debug page shows of a load balancer: what is wanted beside what is there. Pure.
 * @module
 */
import type { LoadBalancerPart } from "../../../../cloud/capabilities/load_balancers.ts";
import { isAllowing, isExactly, listOwnItems } from "../clients/acl.ts";
import { listFirewallRulesOf } from "../clients/firewall.ts";
import type { Gate } from "../clients/gate.ts";
import { EVERYONE, toBlocks } from "../wanted/cidrs.ts";
import type { Wanted, WantedPort } from "../wanted/wanted.ts";
import { listOwnRules, type Scene, toGatePort } from "./scene.ts";
import type { PublicAddress, Rule } from "../view.ts";

/** What is wanted of a Service, and where. */
export interface PartsSite {
  readonly scene: Scene;
  readonly wanted: Wanted;
  readonly address: PublicAddress;
  readonly gate: Gate;
  /** How many VMs each rule should have. */
  readonly backendCount: number;
}

/** The address, and for each port its rule, its clients and its backends; then what should not be there. */
export function listParts(
  site: PartsSite,
  others: readonly PublicAddress[],
): readonly LoadBalancerPart[] {
  const { scene, wanted, address } = site;
  const rules = listOwnRules(scene, address.id);
  const byPort = new Map(rules.map((one) => [one.publicPort, one]));
  const ports = new Set(wanted.ports.map(({ publicPort }) => publicPort));
  return [
    { kind: "address", name: address.ip, wanted: address.ip, actual: address.ip },
    ...wanted.ports.flatMap((port) => listPortParts(site, port, byPort.get(port.publicPort))),
    ...rules.filter(({ publicPort }) => !ports.has(publicPort)).map(toRulePart),
    ...listActual(scene, others),
  ];
}

/** Addresses with the rules of the Service on them. */
export function listActual(
  scene: Scene,
  addresses: readonly PublicAddress[],
): readonly LoadBalancerPart[] {
  return addresses.flatMap(({ id, ip }) => [
    { kind: "address", name: ip, actual: ip },
    ...listOwnRules(scene, id).map(toRulePart),
  ]);
}

function toRulePart(rule: Rule): LoadBalancerPart {
  return {
    kind: "rule",
    name: `${rule.protocol} ${rule.publicPort} on ${rule.ip}`,
    actual: describe(rule),
  };
}

function listPortParts(
  { scene, wanted, gate, backendCount }: PartsSite,
  port: WantedPort,
  rule: Rule | undefined,
): readonly LoadBalancerPart[] {
  const name = `${port.protocol} ${port.publicPort}`;
  const clients = (wanted.sources ?? EVERYONE).join(", ");
  const members = rule && scene.view.members.get(rule.id);
  return [
    {
      kind: "rule",
      name,
      wanted: describe({ ...port, algorithm: wanted.algorithm }),
      ...(rule && { actual: describe(rule) }),
    },
    {
      kind: "clients",
      name,
      wanted: clients,
      ...(rule && { actual: listClients(scene, gate, rule).join(", ") }),
    },
    {
      kind: "backends",
      name,
      wanted: String(backendCount),
      ...(members && { actual: String(members.size) }),
    },
  ];
}

function describe({
  protocol,
  privatePort,
  algorithm,
}: Pick<Rule, "protocol" | "privatePort" | "algorithm">): string {
  return `${protocol} to node port ${privatePort}, ${algorithm}`;
}

/** Which clients what belongs to a rule lets in. */
function listClients(scene: Scene, gate: Gate, rule: Rule): readonly string[] {
  const lists =
    gate.kind === "firewall"
      ? listFirewallRulesOf(scene, rule)
      : gate.kind === "acl"
        ? listOwnItems(scene).filter((one) => isAllowing(one) && isExactly(one, toGatePort(rule)))
        : [rule];
  return [
    ...new Set(lists.flatMap(({ cidrs }) => (cidrs === undefined ? ["?"] : toBlocks(cidrs)))),
  ];
}
