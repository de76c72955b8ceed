/**
 * What the debug page shows of a load balancer: what is wanted beside what is there. Pure.
 * @module
 */
import type {
  LoadBalancerOverview,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { isAllowing, isExactly, listOwnItems } from "./acl.ts";
import { listFirewallRulesOf } from "./firewall.ts";
import { findAccessControl, isAccessControl } from "./access.ts";
import { EVERYONE, toBlocks } from "./cidrs.ts";
import type { Desired, DesiredPort } from "./desired.ts";
import { chooseNetwork, listBackends } from "./backends.ts";
import { listAddresses } from "./ownership.ts";
import { isGoing, listOwnRules, type Current, toAccessPort } from "./current.ts";
import { isSticky } from "./stickiness.ts";
import type { Network, PublicAddress, Rule } from "./observation.ts";

/** What a Service asks for, and where it gets it. */
export interface PartsSite {
  readonly current: Current;
  readonly spec: Pick<LoadBalancerSpec, "address" | "backends" | "ports">;
  /** Also of a Service that asks for something that is not possible. */
  readonly desired: Desired;
  /** Who may connect. Absent: not known. */
  readonly clients?: Pick<Desired, "sources"> | undefined;
  /** Absent: not decided. Then what the Service has is shown. */
  readonly address?: PublicAddress | undefined;
  readonly network?: Network | undefined;
}

/** A port with the rule that it has. */
interface PortParts {
  readonly port: DesiredPort;
  readonly rule: Rule | undefined;
}

/** What is neither known nor understood. */
const UNKNOWN = "?";

/**
 * The address, and for each port its rule, its clients, its backends and its stickiness; then what should not be there.
 */
export function describeParts(
  site: PartsSite,
): Required<Pick<LoadBalancerPlan, "overview" | "parts">> {
  const { current, spec, desired } = site;
  const address = site.address ?? findShown(site);
  const rules = address === undefined ? [] : listOwnRules(current, address.id);
  const networkId =
    site.network?.id ?? rules[0]?.networkId ?? chooseNetwork(current.cloud, spec.backends) ?? "";
  const vms = listBackends(current.cloud, networkId, spec.backends);
  const ports = desired.ports.map((port): PortParts => {
    const isFirst = desired.ports.find(({ publicPort }) => publicPort === port.publicPort) === port;
    const rule = rules.find(({ publicPort }) => isFirst && publicPort === port.publicPort);
    return { port, rule };
  });
  const used = new Set(ports.map(({ rule }) => rule));
  const others = listAddresses(current).filter(({ id }) => id !== address?.id);
  return {
    parts: [
      toAddressPart(spec, address),
      ...ports.flatMap((one) => listPortParts(site, one, vms.length)),
      ...rules.filter((rule) => !used.has(rule)).map(toRulePart),
      ...listActual(current, others),
    ],
    overview: () => ({
      ...(address && { address: address.ip }),
      backends: spec.backends
        .filter((one) => listBackends(current.cloud, networkId, [one]).length > 0)
        .map(({ nodeName }) => nodeName),
      ...countServing(current, ports, new Set(vms.map(({ id }) => id))),
    }),
  };
}

/** Addresses with the rules of the Service on them. */
export function listActual(
  current: Current,
  addresses: readonly PublicAddress[],
): readonly LoadBalancerPart[] {
  return addresses.flatMap(({ id, ip }) => [
    { kind: "address", name: ip, actual: ip },
    ...listOwnRules(current, id).map(toRulePart),
  ]);
}

/** The address that a Service has, while something is in the way: the one that it names, else that of most rules. */
function findShown({ current, spec: { address = "" } }: PartsSite): PublicAddress | undefined {
  const all = listAddresses(current);
  if (address !== "") return all.find(({ ip }) => ip === address);
  const count = ({ id }: PublicAddress): number => listOwnRules(current, id).length;
  return all.toSorted((a, b) => count(b) - count(a))[0];
}

function toAddressPart(
  { address: named = "" }: PartsSite["spec"],
  address: PublicAddress | undefined,
): LoadBalancerPart {
  if (address !== undefined) {
    return { kind: "address", name: address.ip, wanted: address.ip, actual: address.ip };
  }
  return named === ""
    ? { kind: "address", name: "new", wanted: "a free one" }
    : { kind: "address", name: named, wanted: named };
}

function toRulePart(rule: Rule): LoadBalancerPart {
  return {
    kind: "rule",
    name: `${rule.protocol} ${rule.publicPort} on ${rule.ip}`,
    actual: describe(rule),
  };
}

function listPortParts(
  { current, desired, clients }: PartsSite,
  { port, rule }: PortParts,
  backendCount: number,
): readonly LoadBalancerPart[] {
  const name = `${port.protocol} ${port.publicPort}`;
  const sources = clients === undefined ? [UNKNOWN] : (clients.sources ?? EVERYONE);
  const members = rule && current.cloud.members.get(rule.id);
  return [
    {
      kind: "rule",
      name,
      wanted: describe({ ...port, algorithm: desired.algorithm }),
      ...(rule && { actual: describe(rule) }),
    },
    {
      kind: "clients",
      name,
      wanted: sources.join(", "),
      ...(rule && { actual: listClients(current, rule).join(", ") }),
    },
    {
      kind: "backends",
      name,
      wanted: String(backendCount),
      ...(members && { actual: String(members.size) }),
    },
    ...listStickiness(current, desired, { port, rule }),
  ];
}

/** Nothing if none is wanted and none is there. */
function listStickiness(
  { cloud }: Current,
  { stickiness }: Desired,
  { port, rule }: PortParts,
): readonly LoadBalancerPart[] {
  const wanted =
    stickiness === "refused"
      ? port.protocol === "udp"
        ? undefined
        : UNKNOWN
      : stickiness && isSticky(stickiness, port)
        ? describePolicy(stickiness)
        : undefined;
  const policies = (rule && cloud.policies.get(rule.id)) ?? [];
  const actual = policies.filter((one) => !isGoing(one)).map(describePolicy);
  if (wanted === undefined && actual.length === 0) return [];
  return [
    {
      kind: "stickiness",
      name: `${port.protocol} ${port.publicPort}`,
      ...(wanted !== undefined && { wanted }),
      ...(actual.length > 0 && { actual: actual.join(", ") }),
    },
  ];
}

function describePolicy({
  method,
  params,
}: {
  readonly method: string;
  readonly params: ReadonlyMap<string, string>;
}): string {
  const pairs = [...params].map(([key, value]) => `${key}=${value}`);
  return [method, ...pairs.toSorted()].join(" ");
}

function describe({
  protocol,
  privatePort,
  algorithm,
}: Pick<Rule, "protocol" | "privatePort" | "algorithm">): string {
  return `${protocol} to node port ${privatePort}, ${algorithm}`;
}

/** Which clients what belongs to a rule lets in. */
function listClients(current: Current, rule: Rule): readonly string[] {
  const network = current.cloud.networks.get(rule.networkId);
  const access = network && findAccessControl(current.cloud, network);
  if (access === undefined || !isAccessControl(access)) return [UNKNOWN];
  const lists =
    access.kind === "firewall"
      ? listFirewallRulesOf(current, rule)
      : access.kind === "acl"
        ? listOwnItems(current).filter(
            (one) => isAllowing(one) && isExactly(one, toAccessPort(rule)),
          )
        : [rule];
  return [
    ...new Set(lists.flatMap(({ cidrs }) => (cidrs === undefined ? [UNKNOWN] : toBlocks(cidrs)))),
  ];
}

/** How many of the VMs are behind the rule of each port. Nothing if a list of members is not known. */
function countServing(
  { cloud }: Current,
  ports: readonly PortParts[],
  vmIds: ReadonlySet<string>,
): Pick<LoadBalancerOverview, "serving"> {
  if (ports.length === 0) return {};
  let serving = vmIds.size;
  for (const { rule } of ports) {
    const members = rule === undefined ? new Set<string>() : cloud.members.get(rule.id);
    if (members === undefined) return {};
    serving = Math.min(serving, members.intersection(vmIds).size);
  }
  return { serving };
}
