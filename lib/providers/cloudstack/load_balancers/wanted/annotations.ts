/**
 * Reads the annotations of a Service for CloudStack's load balancers. Pure.
 * @module
 */
import type { LoadBalancerProblem } from "../../../../cloud/capabilities/load_balancers.ts";
import { CIDRS_MAX, parseCidr, parseIp } from "../../../../core/net/ip.ts";
import { isSubdomain } from "../../../../core/text/label.ts";
import { quote } from "../../../../core/text/printable.ts";
import { canonize } from "./cidrs.ts";
import { toNotice, toWaiting } from "./problems.ts";
import { parseStickiness, type StickinessWish } from "./stickiness_wish.ts";
import { ANNOTATIONS } from "../words.ts";

/** What the annotations of a Service say. `refused`: the value is not understood. */
interface Wishes {
  /** Whether backends get the PROXY protocol on TCP ports. */
  readonly isProxy: boolean;
  /** What the status shows instead of the IP. Absent also if it was refused. */
  readonly hostname?: string;
  /** Canonical, at least one. Absent: the annotation lets everyone in. */
  readonly sourceCidrs?: readonly string[] | "refused";
  readonly stickiness?: StickinessWish | "refused";
}

type Annotations = Readonly<Record<string, string>>;

/** Reads all annotations. */
export function readAnnotations(annotations: Annotations): {
  readonly wishes: Wishes;
  readonly problems: readonly LoadBalancerProblem[];
} {
  const problems: LoadBalancerProblem[] = [];
  const keep = <T extends object | boolean>(
    found: T | LoadBalancerProblem | undefined,
  ): T | "refused" | undefined => {
    if (!isProblem(found)) return found;
    problems.push(found);
    return "refused";
  };
  const named = readHostname(annotations);
  if (isProblem(named)) problems.push(named);
  const hostname = isProblem(named) ? undefined : named;
  const sourceCidrs = keep(readSourceCidrs(annotations));
  const stickiness = keep(
    parseStickiness(
      annotations[ANNOTATIONS.stickinessMethod],
      annotations[ANNOTATIONS.stickinessParams],
    ),
  );
  const wishes: Wishes = {
    isProxy: keep(readProxyProtocol(annotations)) === true,
    ...(hostname !== undefined && { hostname }),
    ...(sourceCidrs !== undefined && { sourceCidrs }),
    ...(stickiness !== undefined && { stickiness }),
  };
  return { wishes, problems };
}

/** Whether version 1.x of the Go provider noted that it took the address that the Service names. */
export function isAssociatedBy1x(annotations: Annotations): boolean {
  return annotations[ANNOTATIONS.isAssociated] === "true";
}

function isProblem(found: object | string | boolean | undefined): found is LoadBalancerProblem {
  return typeof found === "object" && "reason" in found && "message" in found;
}

/** As version 1.x: anything but `true` is false. */
function readProxyProtocol(annotations: Annotations): boolean | LoadBalancerProblem {
  const text = annotations[ANNOTATIONS.proxyProtocol] ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const wanted = 'only "true" and "false" are known, and it counts as "false"';
  return toNotice(
    "InvalidAnnotation",
    `annotation ${ANNOTATIONS.proxyProtocol} has the value ${quote(text)}: ${wanted}`,
  );
}

function readHostname(annotations: Annotations): string | LoadBalancerProblem | undefined {
  const text = annotations[ANNOTATIONS.hostname];
  if (text === undefined || text === "") return undefined;
  // Kubernetes refuses any other text in the status.
  if (isSubdomain(text) && parseIp(text) === undefined) return text;
  return toWaiting(
    "InvalidAnnotation",
    `annotation ${ANNOTATIONS.hostname} has the value ${quote(text)}: write a DNS name in lower case`,
  );
}

function readSourceCidrs(
  annotations: Annotations,
): readonly string[] | LoadBalancerProblem | undefined {
  const text = annotations[ANNOTATIONS.sourceCidrs];
  if (text === undefined) return undefined;
  const entries = text.split(",", CIDRS_MAX + 1).map((one) => one.trim());
  if (entries.length > CIDRS_MAX) {
    const problem = `annotation ${ANNOTATIONS.sourceCidrs} has more than ${CIDRS_MAX} CIDRs: use fewer, larger ones`;
    return toWaiting("InvalidAnnotation", problem);
  }
  const isEmpty = entries.every((one) => one === "");
  // The server takes an empty list as "everyone", so an empty text must not reach it.
  const bad = entries.find((one) => !one.includes("/") || parseCidr(one) === undefined);
  if (bad === undefined) return canonize(entries);
  const what = isEmpty ? "is empty" : `has the entry ${quote(bad)}, which is no CIDR block`;
  const advice = "list blocks like 192.0.2.0/24, or remove the annotation to let everyone in";
  return toWaiting("InvalidAnnotation", `annotation ${ANNOTATIONS.sourceCidrs} ${what}: ${advice}`);
}
