/**
 * Names of load-balancer rules. Frozen words: they are written into CloudStack, and 1.x of the Apache provider made the
 * same ones.
 * @module
 */

/** Protocols of the rules that Landfall makes. */
export type RuleProtocol = "tcp" | "udp" | "tcp-proxy";

/** What the name of a rule says. */
interface RuleName {
  /** Of the Service, see {@linkcode toLbName}. */
  readonly lbName: string;
  /** Absent in the form of the provider that was part of Kubernetes. */
  readonly protocol?: RuleProtocol;
  /** Of the Service. */
  readonly port: number;
}

const LB_NAME_CHARS_MAX = 32;
/** `a` and a UID without dashes. */
const NAME = /^(a[^-]{1,31})-(?:(tcp|udp|tcp-proxy)-)?([1-9]\d{0,4})$/;

/** The name of a Service's load balancer: Kubernetes' default. Its last character does not fit. */
export function toLbName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, LB_NAME_CHARS_MAX);
}

/** Writes the name of the rule for one port of a Service. */
export function formatRuleName(lbName: string, protocol: RuleProtocol, port: number): string {
  return `${lbName}-${protocol}-${port}`;
}

/** Reads the name of a rule for a Service of any cluster; `undefined` for any other name. */
export function parseRuleName(name: string): RuleName | undefined {
  const [, lbName, protocol, port] = NAME.exec(name) ?? [];
  if (lbName === undefined || port === undefined) return undefined;
  const number = Number(port);
  if (number > 65_535) return undefined;
  const known = PROTOCOLS.find((one) => one === protocol);
  return { lbName, ...(known && { protocol: known }), port: number };
}

const PROTOCOLS: readonly RuleProtocol[] = ["tcp", "udp", "tcp-proxy"];
