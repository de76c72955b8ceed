/**
 * What a Service asks of CloudStack, before anything is compared with what exists. Pure.
 * @module
 */
import type {
  LoadBalancerPort,
  LoadBalancerProblem,
  LoadBalancerSpec,
} from "../../../../cloud/capabilities/load_balancers.ts";
import { readAnnotations } from "./annotations.ts";
import { covers, EVERYONE, intersect, keepIpv4 } from "./cidrs.ts";
import { isWaiting, toNotice, toWaiting } from "./problems.ts";
import { formatRuleName, type RuleProtocol, toLbName } from "../rule_names.ts";
import type { StickinessWish } from "./stickiness_wish.ts";
import { describeRule } from "../words.ts";

/** A port that the Service asks for: one rule. */
export interface WantedPort {
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
export interface Wanted {
  readonly ports: readonly WantedPort[];
  readonly description: string;
  readonly algorithm: "roundrobin" | "source";
  /** Who may connect: in the Service's ranges, and in those of the annotation. Absent: everyone. */
  readonly sources?: readonly string[];
  /** Those of the annotation alone. Version 1.x wrote them into the rules. */
  readonly ruleCidrs?: readonly string[];
  readonly hostname?: string;
  readonly stickiness?: StickinessWish | "refused";
}

/**
 * Reads a Service.
 *
 * @returns Without `wanted`, nothing may be made: a part of what it asks for is not possible, and `asked` is only to be
 * shown. With `clients`, it is known who may connect
 */
export function toWanted(spec: LoadBalancerSpec): {
  readonly asked: Wanted;
  readonly wanted?: Wanted;
  readonly clients?: Pick<Wanted, "sources">;
  readonly problems: readonly LoadBalancerProblem[];
} {
  const { wishes, problems: annotationProblems } = readAnnotations(spec.annotations);
  const sources = readSources(spec.sourceRanges, wishes.sourceCidrs);
  const own = [...checkPorts(spec.ports), ...checkFamilies(spec), ...sources.problems];
  const problems = [...own, ...annotationProblems];
  const clients = { ...(sources.list && { sources: sources.list }) };
  const { hostname, stickiness } = wishes;
  const asked: Wanted = {
    ports: spec.ports.flatMap((port) => toWantedPort(spec, port, wishes.isProxy) ?? []),
    description: describeRule(spec.owner),
    algorithm: spec.clientIpAffinity === undefined ? "roundrobin" : "source",
    ...clients,
    ...(sources.ruleCidrs && { ruleCidrs: sources.ruleCidrs }),
    ...(hostname !== undefined && { hostname }),
    ...(stickiness !== undefined && { stickiness }),
  };
  if (isWaiting(sources.problems) || wishes.sourceCidrs === "refused") return { asked, problems };
  return { asked, clients, problems, ...(!isWaiting(own) && { wanted: asked }) };
}

function toWantedPort(
  { owner }: LoadBalancerSpec,
  { protocol, port, nodePort, appProtocol }: LoadBalancerPort,
  isProxy: boolean,
): WantedPort | undefined {
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
