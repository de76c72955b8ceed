/**
 * Turns a Service and the Nodes into what a load balancer must be. Pure.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerIngress,
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../core/text/printable.ts";
import type { Service, ServiceIngress, ServicePort } from "../../../kube/kinds/service.ts";
import type { NodeSet } from "./node_set.ts";
import { readSourceRanges } from "./source_ranges.ts";
import { RECORD } from "../words.ts";

/** What a Service asks for, or why it cannot be read: the field and its value, without full stop. */
type SpecReading = { readonly spec: LoadBalancerSpec } | { readonly problem: string };

const AFFINITY_SECONDS = 10_800;
const PORT_MAX = 65_535;
const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
const FAMILIES = ["IPv4", "IPv6"] as const;
const FAMILY_POLICIES = ["SingleStack", "PreferDualStack", "RequireDualStack"] as const;

/** Everything that may say which load balancer a Service has. Total: it never fails. */
export function toClaim({ metadata, spec, status }: Service): LoadBalancerClaim {
  const { name, namespace = "", uid = "", labels, annotations, creationTimestamp } = metadata;
  const { [RECORD]: record, ...others } = annotations ?? {};
  const address = spec?.loadBalancerIP?.trim();
  const createdAtMs = Date.parse(creationTimestamp ?? "");
  return {
    owner: { namespace, name, uid },
    annotations: others,
    labels: labels ?? {},
    ...(!Number.isNaN(createdAtMs) && { createdAtMs }),
    ...(address && { address }),
    ...(spec?.externalTrafficPolicy === "Local" && { localPods: toText(spec.selector) }),
    ports: (spec?.ports ?? []).flatMap(({ port, protocol = "TCP" }) => {
      const known = PROTOCOLS.find((one) => one === protocol);
      return known === undefined ? [] : [{ port, protocol: known }];
    }),
    ingress: (status?.loadBalancer?.ingress ?? []).flatMap(toIngress),
    ...(record !== undefined && { record }),
  };
}

/** Reads what a Service asks for. */
export function toSpec(
  service: Service,
  { backends, excludedIds }: Pick<NodeSet, "backends" | "excludedIds">,
): SpecReading {
  const { spec = {} } = service;
  const ports = readPorts(spec.ports ?? []);
  if ("problem" in ports) return ports;
  const ipFamilies = readFamilies(spec.ipFamilies ?? []);
  if ("problem" in ipFamilies) return ipFamilies;
  const ranges = readSourceRanges(service, ipFamilies.families);
  if ("problem" in ranges) return ranges;
  const isLocal = spec.externalTrafficPolicy === "Local";
  const healthPort = isLocal ? (spec.healthCheckNodePort ?? 0) : 0;
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS;
  return {
    spec: {
      ...toClaim(service),
      ports: ports.ports,
      ...(ranges.ranges && { sourceRanges: ranges.ranges }),
      ...(spec.sessionAffinity === "ClientIP" && { clientIpAffinity: { timeoutSeconds } }),
      trafficPolicy: isLocal ? "Local" : "Cluster",
      ...(healthPort > 0 && { healthCheckNodePort: healthPort }),
      ipFamilies: ipFamilies.families,
      ipFamilyPolicy: FAMILY_POLICIES.find((one) => one === spec.ipFamilyPolicy) ?? "SingleStack",
      backends,
      excludedInstanceIds: excludedIds,
    },
  };
}

/** A text that is the same for equal selectors; empty if there is none. */
function toText(selector: Readonly<Record<string, string>> | null = {}): string {
  const entries = Object.entries(selector ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return entries.length === 0 ? "" : JSON.stringify(entries);
}

function toIngress({ ip, hostname, ipMode }: ServiceIngress): LoadBalancerIngress[] {
  if (ip) {
    const isKnown = ipMode === "VIP" || ipMode === "Proxy";
    return [{ ip, ...(isKnown && { ipMode }) }];
  }
  return hostname ? [{ hostname }] : [];
}

function readPorts(
  written: readonly ServicePort[],
): { readonly ports: readonly LoadBalancerPort[] } | { readonly problem: string } {
  if (written.length === 0) return { problem: "spec.ports: there is none" };
  const ports: LoadBalancerPort[] = [];
  const seen = new Set<string>();
  for (const [at, { name, port, nodePort, appProtocol, ...more }] of written.entries()) {
    const field = `spec.ports[${at}]`;
    const protocol = PROTOCOLS.find((one) => one === (more.protocol ?? "TCP"));
    if (protocol === undefined) {
      return { problem: `${field}.protocol: ${quote(more.protocol ?? "")} is not known` };
    }
    if (!isPort(port)) return { problem: `${field}.port: ${port} is not a port` };
    if (nodePort && !isPort(nodePort)) {
      return { problem: `${field}.nodePort: ${nodePort} is not a port` };
    }
    const key = `${protocol} ${port}`;
    if (seen.has(key)) return { problem: `${field}: ${key} is there twice` };
    seen.add(key);
    ports.push({
      ...(name && { name }),
      protocol,
      port,
      ...(nodePort && { nodePort }),
      ...(appProtocol && { appProtocol }),
    });
  }
  return { ports };
}

function readFamilies(
  written: readonly string[],
): { readonly families: readonly (typeof FAMILIES)[number][] } | { readonly problem: string } {
  const families: (typeof FAMILIES)[number][] = [];
  for (const text of new Set(written)) {
    const family = FAMILIES.find((one) => one === text);
    if (family === undefined) return { problem: `spec.ipFamilies: ${quote(text)} is not known` };
    families.push(family);
  }
  // The API server sets it for every load balancer; the type of the field does not say so.
  return { families: families.length === 0 ? ["IPv4"] : families };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= PORT_MAX;
}
