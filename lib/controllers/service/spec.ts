/**
 * Reads a Service: whether it needs a load balancer, what it asks for, and what its status shows. Pure.
 * @module
 */
import type {
  LiveServices,
  LoadBalancerClaim,
  LoadBalancerIngress,
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../core/text/printable.ts";
import {
  hasCloudLoadBalancer,
  type Service,
  type ServiceIngress,
  type ServicePort,
} from "../../kube/kinds/service.ts";
import type { NodeSet } from "./node_set.ts";
import { RECORD, SOURCE_RANGES } from "./words.ts";
import { isDeepStrictEqual } from "node:util";
import { CIDRS_MAX, formatCidrs, parseCidrs, parseIp } from "../../core/net/ip.ts";

/** What a Service asks for, or why it cannot be read: the field and its value, without full stop. */
type SpecReading = { readonly spec: LoadBalancerSpec } | { readonly problem: string };

const PORT_MAX = 65_535;
const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
const FAMILIES = ["IPv4", "IPv6"] as const;
const FAMILY_POLICIES = ["SingleStack", "PreferDualStack", "RequireDualStack"] as const;

/** Everything that may say which load balancer a Service has. Total: it never fails. */
export function toClaim({ metadata, spec, status }: Service): LoadBalancerClaim {
  const { name, namespace = "", uid = "", labels, annotations } = metadata;
  const { [RECORD]: record, ...others } = annotations ?? {};
  const address = spec?.loadBalancerIP?.trim();
  return {
    owner: { namespace, name, uid },
    annotations: others,
    labels: labels ?? {},
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
  return {
    spec: {
      ...toClaim(service),
      ports: ports.ports,
      ...(ranges.ranges && { sourceRanges: ranges.ranges }),
      ...(spec.sessionAffinity === "ClientIP" && { hasClientIpAffinity: true as const }),
      trafficPolicy: isLocal ? "Local" : "Cluster",
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

/**
 * What a Service needs.
 *
 * - `ensure`: a load balancer as its fields say
 * - `release`: what Landfall made for it must go, then the finalizer
 * - `conflict`: it has what Landfall made, and a class that Landfall does not serve. The class of a Service cannot
 *   change, but the flag of Landfall can. So nothing is done
 * - `nothing`
 */
export type ServiceNeed = "ensure" | "release" | "conflict" | "nothing";

/** Which Services Landfall serves, by their class. */
export interface ServedClasses {
  readonly ownClass?: string | undefined;
  /** Whether it serves Services without a class. */
  readonly servesClassless: boolean;
}

/** Whether a Service asks for a load balancer of this controller. */
export function isWanted({ spec }: Service, { ownClass, servesClassless }: ServedClasses): boolean {
  const loadBalancerClass = spec?.loadBalancerClass ?? undefined;
  const isOurs = loadBalancerClass === undefined ? servesClassless : loadBalancerClass === ownClass;
  return spec?.type === "LoadBalancer" && isOurs;
}

/** Whether Kubernetes or its type says that a Service must lose its load balancer. */
export function needsCleanup(service: Service): boolean {
  return hasCloudLoadBalancer(service) && (isBeingDeleted(service) || !isLoadBalancer(service));
}

/** What the needs of Services depend on besides themselves. */
interface NeedOptions {
  readonly classes: ServedClasses;
  /** Whether this process made its load balancer, and has not released it since. */
  readonly isManaged: boolean;
  /** Whether load balancers leave nothing behind: a Service keeps its own until it is gone, without a finalizer. */
  readonly leavesNothingBehind: boolean;
}

/** Decides what a Service needs. */
export function findNeed(service: Service, options: NeedOptions): ServiceNeed {
  const { classes, isManaged, leavesNothingBehind } = options;
  if (needsCleanup(service)) return "release";
  const isLeaving = isBeingDeleted(service) && !leavesNothingBehind;
  if (isWanted(service, classes) && !isLeaving) return "ensure";
  // A user removed the finalizer, or the class is new since this process saw the Service.
  if (isManaged) return "release";
  const hasRecord = service.metadata.annotations?.[RECORD] !== undefined;
  const isOurs = hasRecord && (leavesNothingBehind || hasCloudLoadBalancer(service));
  if (!isOurs) return "nothing";
  return isLoadBalancer(service) ? "conflict" : "release";
}

/**
 * Whether a Service may have a load balancer although Landfall has nothing to do for it: another controller may, or
 * Landfall with another class.
 */
export function mayHold(service: Service): boolean {
  return hasCloudLoadBalancer(service) || (isLoadBalancer(service) && !isBeingDeleted(service));
}

function isBeingDeleted({ metadata }: Service): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isLoadBalancer({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer";
}

/**
 * All fields that decide about the load balancer of a Service; nothing for a Service that has none and wants none. Our
 * own annotation and the status are none of them: a change of theirs is our own, or {@linkcode isDrift}.
 */
export function listInputs(service: Service, classes: ServedClasses): readonly unknown[] {
  if (!isWanted(service, classes) && !needsCleanup(service)) return [];
  const { metadata, spec = {} } = service;
  const { [RECORD]: _own, ...annotations } = metadata.annotations ?? {};
  return [
    metadata.uid,
    metadata.deletionTimestamp !== undefined,
    metadata.labels ?? {},
    annotations,
    spec,
  ];
}

/** What the user of a Service asks for: its inputs without what programs that announce addresses write. */
export function listAsked({ metadata, spec }: Service): readonly unknown[] {
  const asked = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => key !== RECORD && !key.startsWith("kube-vip.io/"),
  );
  return [metadata.uid, metadata.labels ?? {}, Object.fromEntries(asked), spec];
}

/** Whether another program or a user wrote a load balancer of its own into the status. */
export function isForeignWrite(before: Service, after: Service): boolean {
  const shown = after.status?.loadBalancer?.ingress ?? [];
  return shown.length > 0 && !isDeepStrictEqual(before.status?.loadBalancer?.ingress, shown);
}

/** Whether another program or a user changed what we wrote: the status, or the finalizer. */
export function isDrift(
  before: Service,
  after: Service,
  isSettled: (service: Service) => boolean,
): boolean {
  const isSame =
    isDeepStrictEqual(before.status, after.status) &&
    hasCloudLoadBalancer(before) === hasCloudLoadBalancer(after);
  return !isSame && !isSettled(after);
}

/**
 * Whether a status shows these entries, in this order. A missing `ipMode` is `VIP`: API servers fill it in, or do not
 * know it.
 *
 * @param options.dropsIpMode Whether the API server does not keep `ipMode`
 */
export function showsIngress(
  { status }: Pick<Service, "status">,
  wanted: readonly LoadBalancerIngress[],
  options: { readonly dropsIpMode: boolean },
): boolean {
  const actual = status?.loadBalancer?.ingress ?? [];
  const { dropsIpMode } = options;
  return (
    actual.length === wanted.length &&
    wanted.every(
      (one, at) => toIngressText(actual[at], dropsIpMode) === toIngressText(one, dropsIpMode),
    )
  );
}

/** Whether a Service has these annotations; `undefined`: it must not have one. */
export function showsAnnotations(
  { metadata }: Pick<Service, "metadata">,
  wanted: Readonly<Record<string, string | undefined>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata.annotations?.[key] === value);
}

/** Whether an API server dropped `ipMode` from what it was given. */
export function hasDroppedIpMode(
  answer: Pick<Service, "status">,
  given: readonly LoadBalancerIngress[],
): boolean {
  const kept = answer.status?.loadBalancer?.ingress ?? [];
  return given.some(
    (one, at) =>
      "ip" in one && one.ipMode !== undefined && kept[at]?.ip === one.ip && !kept[at]?.ipMode,
  );
}

function toIngressText(
  entry: ServiceIngress | LoadBalancerIngress | undefined,
  dropsIpMode: boolean,
): string {
  const { ip = "", hostname = "", ipMode = "VIP" }: ServiceIngress = { ...entry };
  return JSON.stringify([ip, hostname, ip === "" || dropsIpMode ? "" : ipMode]);
}

/** CIDRs in canonical form, sorted, each once; absent without a restriction. Or what is wrong. */
type SourceRanges = { readonly ranges?: readonly string[] } | { readonly problem: string };

const EVERYWHERE = { IPv4: "0.0.0.0/0", IPv6: "::/0" } as const;

/**
 * Reads `spec.loadBalancerSourceRanges`, or without entries there, the annotation.
 *
 * A Service is unrestricted only if its ranges have all addresses of each of its families: `0.0.0.0/0` alone does not
 * open a Service for IPv6.
 */
export function readSourceRanges(
  { metadata, spec }: Service,
  families: readonly (keyof typeof EVERYWHERE)[],
): SourceRanges {
  const written = spec?.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[SOURCE_RANGES]?.trim() ?? "";
  const isInSpec = written.length > 0;
  if (!isInSpec && annotation === "") return {};
  const field = isInSpec ? "spec.loadBalancerSourceRanges" : `annotation ${SOURCE_RANGES}`;
  const texts = isInSpec ? written : annotation.split(",", CIDRS_MAX + 1);
  if (texts.length > CIDRS_MAX) {
    return { problem: `${field}: has more than ${CIDRS_MAX} CIDRs; use fewer, larger ones` };
  }
  const { cidrs, bad } = parseCidrs(texts);
  if (bad !== undefined) {
    const problem = `${field}: ${quote(bad.trim())} is not a CIDR, for example 10.0.0.0/24`;
    return { problem };
  }
  const ranges = formatCidrs(cidrs);
  return families.every((family) => ranges.includes(EVERYWHERE[family])) ? {} : { ranges };
}

/** Reads all Services of a cluster. One of another class or type counts: another process may serve it, or may again. */
export function toLiveServices(services: Iterable<Service>): LiveServices {
  const uids = new Set<string>();
  const addresses = new Set<string>();
  for (const { metadata, spec, status } of services) {
    if (metadata.uid !== undefined) uids.add(metadata.uid);
    if (spec?.type !== "LoadBalancer") continue;
    const asked = spec.loadBalancerIP ? parseIp(spec.loadBalancerIP)?.text : undefined;
    // What a status shows, a controller wrote in this form.
    const shown = status?.loadBalancer?.ingress ?? [];
    for (const ip of [asked, ...shown.map((one) => one.ip)]) {
      if (ip !== undefined) addresses.add(ip);
    }
  }
  return { uids, addresses };
}
