/**
 * The records of load balancing in the simulated CloudStack: rules, their members, policies, and what the router runs
 * of them.
 * @module
 */
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

/** What the HAProxy of a virtual router knows. Newer ones cannot do `AppCookie`, and the server offers it still. */
export const HAPROXY_METHODS: readonly StickinessMethod[] = [
  toMethod("LbCookie", ["cookie-name", "mode", "domain"], ["nocache", "indirect", "postonly"]),
  toMethod("AppCookie", ["cookie-name", "length", "holdtime", "mode"], ["request-learn", "prefix"]),
  toMethod("SourceBased", ["tablesize", "expire"], []),
];

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
