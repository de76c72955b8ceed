/**
 * Rules, policies and VPCs of the simulated CloudStack, as tests add them: in force, unless a test says something else.
 * @module
 */
import {
  applyRule,
  type LoadBalancerRule,
  type PortForwarding,
  type StickinessPolicy,
  toStoredParameters,
} from "../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { AclList, Vpc } from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";

/** The address that a rule is on; it must have an owner and a network. */
interface Place {
  readonly id: string;
  readonly networkId?: string;
  readonly accountId?: string;
}

/** A virtual machine, as far as it can be behind a rule. */
interface Machine {
  readonly id: string;
  readonly nics: readonly { readonly networkId: string; readonly ipAddress?: string }[];
}

/** What {@linkcode toLoadBalancerRule} takes. */
export interface LoadBalancerRuleOptions extends Partial<
  Omit<LoadBalancerRule, "id" | "ipId" | "networkId" | "accountId" | "members" | "applied">
> {
  readonly ip: Place;
  readonly name: string;
  /** The machines behind it; each must have an interface in the network. @default {none} */
  readonly vms?: readonly Machine[];
}

/** A rule that the router runs: TCP from port 80 to port 30080, unless something else is asked for. */
export function toLoadBalancerRule(options: LoadBalancerRuleOptions): LoadBalancerRule {
  const { ip, vms = [], publicPort = 80, ...rest } = options;
  const { networkId = "", accountId = "" } = ip;
  const rule: LoadBalancerRule = {
    privatePort: 30_080,
    algorithm: "roundrobin",
    protocol: "tcp",
    state: "Add",
    ...rest,
    id: toUuid(`load-balancer/${ip.id}/${publicPort}/${options.name}`),
    ipId: ip.id,
    networkId,
    accountId,
    publicPort,
    members: vms.map((vm) => ({ vmId: vm.id, ip: findIp(vm, networkId), isRevoked: false })),
  };
  if (vms.length > 0) applyRule(rule, new Map());
  return rule;
}

function findIp({ id, nics }: Machine, networkId: string): string {
  const ip = nics.find((nic) => nic.networkId === networkId)?.ipAddress;
  if (ip === undefined) throw new RangeError(`Cannot find an address of VM "${id}" in the network`);
  return ip;
}

/** What {@linkcode toPortForwarding} takes. */
interface PortForwardingOptions extends Partial<
  Omit<PortForwarding, "id" | "ipId" | "networkId" | "accountId">
> {
  readonly ip: Place;
  readonly vmId: string;
  readonly publicPort: number;
}

/** A port forwarding by TCP of one port to the same port, unless something else is asked for. */
export function toPortForwarding({ ip, ...options }: PortForwardingOptions): PortForwarding {
  const { publicPort, privatePort = publicPort, publicEndPort = publicPort } = options;
  const { id: ipId, networkId = "", accountId = "" } = ip;
  return {
    protocol: "tcp",
    privateEndPort: privatePort + publicEndPort - publicPort,
    ...options,
    id: toUuid(`port-forwarding/${ipId}/${options.protocol}/${publicPort}`),
    ipId,
    networkId,
    accountId,
    privatePort,
    publicEndPort,
  };
}

/** What {@linkcode toStickinessPolicy} takes. */
interface StickinessPolicyOptions {
  readonly ruleId: string;
  readonly name: string;
  /** @default {"SourceBased"} */
  readonly methodName?: string;
  readonly description?: string;
  /** Values by name. @default {none} */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A policy in force: by the client's address, unless something else is asked for. */
export function toStickinessPolicy(options: StickinessPolicyOptions): StickinessPolicy {
  const { ruleId, name, methodName = "SourceBased", description, parameters = {} } = options;
  return {
    id: toUuid(`stickiness/${ruleId}/${name}`),
    ruleId,
    name,
    methodName,
    ...(description !== undefined && { description }),
    parameters: toStoredParameters(Object.entries(parameters)),
    isRevoked: false,
  };
}

/** A VPC. */
export function toVpc(name: string, zoneId: string, accountId: string): Vpc {
  return { id: toUuid(`vpc/${zoneId}/${name}`), name, zoneId, accountId, cidr: "10.0.0.0/8" };
}

/** A list of a VPC, without items. */
export function toAclList(name: string, vpc: Vpc): AclList {
  return {
    id: toUuid(`acl/${vpc.id}/${name}`),
    name,
    description: `ACL of ${name}`,
    vpcId: vpc.id,
  };
}
