/**
 * The records of load balancing in the simulated CloudStack: rules, their members, policies, and what the router runs
 * of them.
 * @module
 */
import { toUuid } from "../../uuid.ts";

/** A virtual machine behind a rule. */
export interface Member {
  readonly vmId: string;
  /** The address that gets the traffic: of the interface in the rule's network. */
  readonly ip: string;
  /** Whether a job that runs takes it away. */
  isRevoked: boolean;
}

/** What a router runs of a rule. It can differ from what the rule says: not every change is sent to the router. */
export interface AppliedRule {
  readonly algorithm: string;
  readonly protocol: string;
  /** As the rule has it. */
  readonly cidrList: string | undefined;
  readonly privatePort: number;
  /** Addresses of the members. */
  readonly backends: readonly string[];
  /** Method and parameters of the stickiness policy. */
  readonly stickiness: string | undefined;
}

/** A load-balancer rule. */
export interface LoadBalancerRule {
  readonly id: string;
  name: string;
  description?: string;
  readonly ipId: string;
  readonly networkId: string;
  readonly accountId: string;
  readonly publicPort: number;
  readonly privatePort: number;
  algorithm: string;
  /** `tcp` for a rule that was made without. */
  protocol?: string;
  /** Sources that may connect, as stored: with blanks when the rule was made, with commas after a change. */
  cidrList?: string;
  /** `Add` without a member, `Revoke` while it is deleted. */
  state: "Add" | "Active" | "Revoke";
  members: Member[];
  /** The firewall rule that was made with it, and goes with it. */
  readonly firewallRuleId?: string;
  /** What the router runs; absent until the rule was sent to it for the first time. */
  applied?: AppliedRule;
}

/** A rule that forwards ports of an address to one virtual machine. */
export interface PortForwarding {
  readonly id: string;
  readonly ipId: string;
  readonly networkId: string;
  readonly accountId: string;
  readonly protocol: "tcp" | "udp";
  readonly publicPort: number;
  readonly publicEndPort: number;
  readonly privatePort: number;
  readonly privateEndPort: number;
  readonly vmId: string;
}

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

/**
 * Sends a rule to the router as it is now; from then on it counts as `Active`, or as `Add` without a member. Members
 * and stickiness policies that are being taken away go.
 *
 * A real router gets every rule of the network with it. Here it gets only this one, so that a client cannot live on
 * what it does to other rules.
 *
 * @param policies Those of all rules, by ID
 */
export function applyRule(rule: LoadBalancerRule, policies: Map<string, StickinessPolicy>): void {
  rule.members = rule.members.filter((member) => !member.isRevoked);
  const own = [...policies.values()].filter(({ ruleId }) => ruleId === rule.id);
  for (const { id, isRevoked } of own) {
    if (isRevoked) policies.delete(id);
  }
  const policy = own.findLast(({ isRevoked }) => !isRevoked);
  rule.state = rule.members.length === 0 ? "Add" : "Active";
  rule.applied = {
    algorithm: rule.algorithm,
    protocol: rule.protocol ?? "tcp",
    cidrList: rule.cidrList,
    privatePort: rule.privatePort,
    backends: rule.members.map(({ ip }) => ip),
    stickiness: policy && `${policy.methodName} ${policy.parameters}`,
  };
}

/** Takes a virtual machine that is expunged out of a rule. */
export function leaveRule(
  rule: LoadBalancerRule,
  vmId: string,
  policies: Map<string, StickinessPolicy>,
): void {
  const kept = rule.members.filter((member) => member.vmId !== vmId);
  if (kept.length === rule.members.length) return;
  rule.members = kept;
  applyRule(rule, policies);
}

/** The number by which the server's texts name an object. */
export function toNumber(id: string): number {
  return Number.parseInt(id.slice(0, 4), 16);
}

/** A parameter of a method. */
interface StickinessParameter {
  readonly name: string;
  /** Whether it stands for itself, without a value. */
  readonly isFlag: boolean;
}

/** A way to keep a client at one backend. */
export interface StickinessMethod {
  readonly name: string;
  readonly parameters: readonly StickinessParameter[];
}

/** A policy of a rule. */
export interface StickinessPolicy {
  readonly id: string;
  /** The load-balancer rule. A new policy replaces the one before. */
  readonly ruleId: string;
  readonly name: string;
  readonly methodName: string;
  readonly description?: string;
  /** As the server stores them: `name=value&` one after the other, with `null` for a value that was not sent. */
  readonly parameters: string;
  /** Whether a job that runs takes it away. */
  isRevoked: boolean;
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

/** What the HAProxy of a virtual router knows. Newer ones cannot do `AppCookie`, and the server offers it still. */
export const HAPROXY_METHODS: readonly StickinessMethod[] = [
  toMethod("LbCookie", ["cookie-name", "mode", "domain"], ["nocache", "indirect", "postonly"]),
  toMethod("AppCookie", ["cookie-name", "length", "holdtime", "mode"], ["request-learn", "prefix"]),
  toMethod("SourceBased", ["tablesize", "expire"], []),
];

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

/** Parameters as the server stores them. */
export function toStoredParameters(
  entries: readonly (readonly [name: string, value: string | undefined])[],
): string {
  return entries.map(([name, value]) => `${name}=${value ?? null}&`).join("");
}

/**
 * Parameters as the server shows them. It cuts its text at every `=` and `&`, so that a value with one of them breaks
 * the rest, and empty values at the end are lost. Of a name that is there twice, it shows both values, the last first.
 */
export function readStoredParameters(text: string): Record<string, string> {
  const parts = text.replace(/[=&]+$/, "").split(/[=&]/);
  const values: Record<string, string> = {};
  for (let index = 0; index < parts.length - 1; index += 2) {
    const [name = "", value = ""] = parts.slice(index);
    const before = values[name];
    values[name] = before === undefined ? value : `${value}:${before}`;
  }
  return values;
}

/** The value of the capability `SupportedStickinessMethods`: JSON as text. */
export function toCapabilityText(methods: readonly StickinessMethod[]): string {
  const shown = methods.map((method) => ({
    methodname: method.name,
    paramlist: method.parameters.map(({ name, isFlag }) => ({
      paramname: name,
      required: false,
      isflag: isFlag,
      description: `Parameter ${name} of ${method.name}.`,
    })),
    description: `Method ${method.name}.`,
  }));
  return JSON.stringify(shown);
}

function toMethod(
  name: string,
  values: readonly string[],
  flags: readonly string[],
): StickinessMethod {
  const toParameter = (isFlag: boolean) => (parameter: string) => ({
    name: parameter,
    isFlag,
  });
  return { name, parameters: [...values.map(toParameter(false)), ...flags.map(toParameter(true))] };
}
