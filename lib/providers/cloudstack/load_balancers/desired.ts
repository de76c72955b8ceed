/**
 * What a Service and its annotations ask of CloudStack, before anything is compared with what exists. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerPort,
  LoadBalancerProblem,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { checkWord } from "../../../cloud/address_sharing.ts";
import { covers, EVERYONE, intersect, keepIpv4 } from "./cidrs.ts";
import {
  ANNOTATIONS,
  describeRule,
  formatRuleName,
  isWaiting,
  type RuleProtocol,
  toLbName,
  toNotice,
  toWaiting,
} from "./words.ts";
import { CIDRS_MAX, formatCidrs, parseCidrs, parseIp } from "../../../core/net/ip.ts";
import { isSubdomain } from "../../../core/text/label.ts";
import { quote } from "../../../core/text/printable.ts";

/** A port that the Service asks for: one rule. */
export interface DesiredPort {
  /** Of the rule. */
  readonly name: string;
  readonly protocol: RuleProtocol;
  /** Of the packets: what firewalls and ACLs see. */
  readonly ipProtocol: "tcp" | "udp";
  readonly publicPort: number;
  readonly privatePort: number;
  readonly isHttp: boolean;
}

/** What a Service asks for, in words of CloudStack. */
export interface Desired {
  readonly ports: readonly DesiredPort[];
  readonly description: string;
  readonly algorithm: "roundrobin" | "source";
  /** Who may connect: in the Service's ranges, and in those of the annotation. Absent: everyone. */
  readonly sources?: readonly string[];
  /** Those of the annotation alone. Version 1.x wrote them into the rules. */
  readonly ruleCidrs?: readonly string[];
  readonly hostname?: string;
  readonly stickiness?: DesiredStickiness | "refused";
}

/**
 * Reads a Service.
 *
 * @returns Unless `isPossible`, nothing may be made, and `desired` is only to be shown. With `clients`, it is known who
 * may connect
 */
export function toDesired(spec: LoadBalancerSpec): {
  readonly desired: Desired;
  readonly isPossible: boolean;
  readonly clients?: Pick<Desired, "sources">;
  readonly problems: readonly LoadBalancerProblem[];
} {
  const { values, problems: annotationProblems } = readAnnotations(spec.annotations);
  const sources = readSources(spec.sourceRanges, values.sourceCidrs);
  const own = [...checkPorts(spec.ports), ...checkFamilies(spec), ...sources.problems];
  const problems = [...own, ...annotationProblems];
  const clients = { ...(sources.list && { sources: sources.list }) };
  const { hostname, stickiness } = values;
  const desired: Desired = {
    ports: spec.ports.flatMap((port) => toDesiredPort(spec, port, values.isProxy) ?? []),
    description: describeRule(spec.owner),
    algorithm: spec.hasClientIpAffinity ? "source" : "roundrobin",
    ...clients,
    ...(sources.ruleCidrs && { ruleCidrs: sources.ruleCidrs }),
    ...(hostname !== undefined && { hostname }),
    ...(stickiness !== undefined && { stickiness }),
  };
  if (isWaiting(sources.problems) || values.sourceCidrs === "refused")
    return { desired, isPossible: false, problems };
  return { desired, isPossible: !isWaiting(own), clients, problems };
}

function toDesiredPort(
  { owner }: LoadBalancerSpec,
  { protocol, port, nodePort, appProtocol }: LoadBalancerPort,
  isProxy: boolean,
): DesiredPort | undefined {
  if (nodePort === undefined || protocol === "SCTP") return undefined;
  const ruleProtocol = protocol === "UDP" ? "udp" : isProxy ? "tcp-proxy" : "tcp";
  return {
    name: formatRuleName(toLbName(owner.uid), ruleProtocol, port),
    protocol: ruleProtocol,
    ipProtocol: protocol === "UDP" ? "udp" : "tcp",
    publicPort: port,
    privatePort: nodePort,
    isHttp: protocol === "TCP" && appProtocol === "http",
  };
}

function checkPorts(ports: readonly LoadBalancerPort[]): LoadBalancerProblem[] {
  if (ports.length === 0) return [toWaiting("UnsupportedService", "the Service has no ports")];
  const problems = ports.flatMap((one) => {
    const what = describePort(one);
    if (one.protocol === "SCTP") {
      return [
        toWaiting("UnsupportedService", `${what}: CloudStack balances TCP and UDP, not SCTP`),
      ];
    }
    if (one.nodePort === undefined || one.nodePort === 0) {
      const advice = "set allocateLoadBalancerNodePorts to true, or give the port a nodePort";
      return [
        toWaiting(
          "UnsupportedService",
          `${what} has no node port, so no Node would answer: ${advice}`,
        ),
      ];
    }
    return [];
  });
  for (const port of listTwice(ports.map((one) => one.port))) {
    const advice = "move one of them to another port, or to a Service of its own";
    const why = "CloudStack has one rule for each port of an IP, for all protocols together";
    problems.push(
      toWaiting(
        "UnsupportedService",
        `port ${port} is there for TCP and for UDP: ${why}; ${advice}`,
      ),
    );
  }
  return problems;
}

function listTwice(numbers: readonly number[]): ReadonlySet<number> {
  const seen = new Set<number>();
  return new Set(numbers.filter((one) => seen.has(one) || !seen.add(one)));
}

function describePort({ name, protocol, port }: LoadBalancerPort): string {
  return `port ${port}/${protocol}${name === undefined || name === "" ? "" : ` (${name})`}`;
}

function checkFamilies({ ipFamilies, ipFamilyPolicy }: LoadBalancerSpec): LoadBalancerProblem[] {
  const only = "CloudStack's load balancers have IPv4 addresses only";
  if (ipFamilies.length > 0 && !ipFamilies.includes("IPv4")) {
    return [toWaiting("UnsupportedService", `the Service has IPv6 only: ${only}`)];
  }
  if (ipFamilyPolicy !== "RequireDualStack") return [];
  return [toNotice("UnsupportedService", `the Service requires IPv4 and IPv6: ${only}`)];
}

interface Sources {
  readonly list?: readonly string[];
  readonly ruleCidrs?: readonly string[];
  readonly problems: readonly LoadBalancerProblem[];
}

/**
 * Who may connect. The Service's own ranges and the annotation both restrict, as they did with version 1.x, where one
 * was for the firewall and the other for the rule: a client that one of them leaves out does not get in.
 */
function readSources(
  ranges: readonly string[] | undefined,
  annotation: readonly string[] | "refused" | undefined,
): Sources {
  if (annotation === "refused") return { problems: [] };
  const all = [...(ranges ?? []), ...(annotation ?? [])];
  const ipv6 = all.filter((one) => one.includes(":"));
  const notices =
    ipv6.length === 0
      ? []
      : [
          toNotice(
            "SourceRangesNotPossible",
            `the source ranges ${ipv6.slice(0, 3).join(", ")}${ipv6.length > 3 ? " …" : ""} do nothing: ` +
              "CloudStack's load balancers have IPv4 addresses only",
          ),
        ];
  const own = ranges && keepIpv4(ranges);
  const ruleCidrs = annotation && keepIpv4(annotation);
  const list = intersect(own ?? EVERYONE, ruleCidrs ?? EVERYONE);
  if (list.length === 0) {
    const why =
      own?.length === 0 || ruleCidrs?.length === 0
        ? "there is no block of IPv4 among them"
        : "spec.loadBalancerSourceRanges and the annotation have nothing in common";
    const message = `the source ranges let no client in: ${why}`;
    return { problems: [...notices, toWaiting("SourceRangesNotPossible", message)] };
  }
  return {
    ...(!covers(list, EVERYONE) && { list }),
    ...(ruleCidrs && !covers(ruleCidrs, EVERYONE) && { ruleCidrs }),
    problems: notices,
  };
}

/** What the annotations of a Service say. `refused`: the value is not understood. */
interface AnnotationValues {
  /** Whether backends get the PROXY protocol on TCP ports. */
  readonly isProxy: boolean;
  /** What the status shows instead of the IP. Absent also if it was refused. */
  readonly hostname?: string;
  /** Canonical, at least one. Absent: the annotation lets everyone in. */
  readonly sourceCidrs?: readonly string[] | "refused";
  readonly stickiness?: DesiredStickiness | "refused";
}

type Annotations = Readonly<Record<string, string>>;

/** Reads all annotations. */
export function readAnnotations(annotations: Annotations): {
  readonly values: AnnotationValues;
  readonly problems: readonly LoadBalancerProblem[];
} {
  const problems: LoadBalancerProblem[] = [...checkWord({ annotations })];
  const hostname = readHostname(annotations, problems);
  readFlag(annotations, { key: ANNOTATIONS.keepAddress, otherwise: true }, problems);
  const sourceCidrs = readSourceCidrs(annotations, problems);
  const stickiness = readStickiness(annotations, problems);
  const isProxy = readFlag(
    annotations,
    { key: ANNOTATIONS.proxyProtocol, otherwise: false },
    problems,
  );
  const values: AnnotationValues = {
    isProxy,
    ...(hostname !== undefined && { hostname }),
    ...(sourceCidrs !== undefined && { sourceCidrs }),
    ...(stickiness !== undefined && { stickiness }),
  };
  return { values, problems };
}

/** The address that a Service names: the annotation counts before the field, as in Leaseweb's provider. */
export function readAddress({
  annotations,
  address,
}: Pick<LoadBalancerClaim, "address" | "annotations">): string | undefined {
  return annotations[ANNOTATIONS.address] || address || undefined;
}

/** Whether the address of a Service stays when it goes. A value that is not understood keeps it: a release is final. */
export function keepsAddress(annotations: Annotations): boolean {
  const own = annotations[ANNOTATIONS.keepAddress] ?? "false";
  return own !== "false" || annotations[ANNOTATIONS.keepIp] === "true";
}

/** Whether version 1.x of the Go provider noted that it took the address that the Service names. */
export function isAssociatedBy1x(annotations: Annotations): boolean {
  return annotations[ANNOTATIONS.isAssociated] === "true";
}

/** Absent is false. @param otherwise What any other text counts as */
function readFlag(
  annotations: Annotations,
  { key, otherwise }: { readonly key: string; readonly otherwise: boolean },
  problems: LoadBalancerProblem[],
): boolean {
  const text = annotations[key] ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const desired = `only "true" and "false" are known, and it counts as "${otherwise}"`;
  const message = `annotation ${key} has the value ${quote(text)}: ${desired}`;
  problems.push(toNotice("InvalidAnnotation", message));
  return otherwise;
}

function readHostname(
  annotations: Annotations,
  problems: LoadBalancerProblem[],
): string | undefined {
  const key = ANNOTATIONS.hostname;
  const text = annotations[key] || undefined;
  // Kubernetes refuses any other text in the status.
  if (text === undefined || (isSubdomain(text) && parseIp(text) === undefined)) return text;
  const message = `annotation ${key} has the value ${quote(text)}: write a DNS name in lower case`;
  problems.push(toWaiting("InvalidAnnotation", message));
  return undefined;
}

function readSourceCidrs(
  annotations: Annotations,
  problems: LoadBalancerProblem[],
): AnnotationValues["sourceCidrs"] {
  const key = ANNOTATIONS.sourceCidrs;
  const text = annotations[key];
  if (text === undefined) return undefined;
  const refuse = (why: string): "refused" => {
    problems.push(toWaiting("InvalidAnnotation", `annotation ${key} ${why}`));
    return "refused";
  };
  const entries = text.split(",", CIDRS_MAX + 1).map((one) => one.trim());
  if (entries.length > CIDRS_MAX) {
    return refuse(`has more than ${CIDRS_MAX} CIDRs: use fewer, larger ones`);
  }
  // The server takes an empty list as "everyone", so an empty text must not reach it.
  const { cidrs, bad } = parseCidrs(entries);
  if (bad === undefined) return formatCidrs(cidrs);
  const isEmpty = entries.every((one) => one === "");
  const what = isEmpty ? "is empty" : `has the entry ${quote(bad)}, which is no CIDR block`;
  const advice = "list blocks like 192.0.2.0/24, or remove the annotation to let everyone in";
  return refuse(`${what}: ${advice}`);
}

function readStickiness(
  annotations: Annotations,
  problems: LoadBalancerProblem[],
): AnnotationValues["stickiness"] {
  const { stickinessMethod, stickinessParams } = ANNOTATIONS;
  const found = parseStickiness(annotations[stickinessMethod], annotations[stickinessParams]);
  if (found === undefined || "method" in found) return found;
  problems.push(found);
  return "refused";
}

/** The stickiness that a Service asks for. */
export interface DesiredStickiness {
  readonly method: "LbCookie" | "SourceBased";
  readonly params: ReadonlyMap<string, string>;
}

/** Which values a parameter may have. */
type Form = { readonly pattern: RegExp; readonly words: string; readonly isFlag?: true };

const FLAG: Form = { pattern: /^true$/, words: "true", isFlag: true };
const NAME: Form = { pattern: /^[!-~]{1,128}$/, words: "a text without blanks" };

const PARAMS: Readonly<Record<DesiredStickiness["method"], ReadonlyMap<string, Form>>> = {
  LbCookie: new Map([
    ["cookie-name", NAME],
    ["mode", { pattern: /^(insert|rewrite|prefix)$/, words: "insert, rewrite or prefix" }],
    ["domain", NAME],
    // HAProxy gets the flag with any value, so `false` would mean true.
    ["nocache", FLAG],
    ["indirect", FLAG],
    ["postonly", FLAG],
  ]),
  SourceBased: new Map([
    ["tablesize", { pattern: /^[1-9]\d{0,8}[kmg]$/, words: "a number with k, m or g, like 200k" }],
    ["expire", { pattern: /^[1-9]\d{0,8}[smhd]$/, words: "a number with s, m, h or d, like 30m" }],
  ]),
};

/** Characters that would end a word in the configuration of HAProxy. */
const REFUSED = /[\s=&"'\\#]/;

/**
 * Reads both annotations.
 *
 * @returns `undefined` if the Service asks for none
 */
export function parseStickiness(
  method: string | undefined,
  params: string | undefined,
): DesiredStickiness | LoadBalancerProblem | undefined {
  if (method === undefined || method === "") {
    if (params === undefined || params === "") return undefined;
    return refuse(ANNOTATIONS.stickinessParams, params, "there is no method for it");
  }
  if (method === "AppCookie") {
    return refuse(ANNOTATIONS.stickinessMethod, method, "HAProxy can no longer do this");
  }
  if (method !== "LbCookie" && method !== "SourceBased") {
    return refuse(ANNOTATIONS.stickinessMethod, method, "write LbCookie or SourceBased");
  }
  const parsed = parseParams(method, params ?? "");
  if (typeof parsed !== "string") return { method, params: parsed };
  return refuse(ANNOTATIONS.stickinessParams, params ?? "", parsed);
}

/** @returns What is wrong, if it is a text */
function parseParams(
  method: DesiredStickiness["method"],
  text: string,
): ReadonlyMap<string, string> | string {
  const params = new Map<string, string>();
  if (text === "") return params;
  const known = PARAMS[method];
  for (const entry of text.split(",").map((one) => one.trim())) {
    const at = entry.indexOf("=");
    const key = at === -1 ? entry : entry.slice(0, at);
    const form = known.get(key);
    if (form === undefined) {
      return `${method} has no parameter ${quote(key)}, only ${[...known.keys()].join(", ")}`;
    }
    if (params.has(key)) return `it has ${key} twice`;
    const value =
      at === -1 && form.isFlag ? "true" : entry.slice(at === -1 ? entry.length : at + 1);
    if (value === "" || REFUSED.test(value) || !form.pattern.test(value)) {
      return `${key} must be ${form.words}`;
    }
    params.set(key, value);
  }
  return params;
}

function refuse(annotation: string, text: string, why: string): LoadBalancerProblem {
  return toWaiting(
    "StickinessNotPossible",
    `annotation ${annotation} has the value ${quote(text)}: ${why}`,
  );
}
