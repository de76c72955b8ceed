/**
 * What a Service asks for, read for judges: an oracle that shares no code with what it judges.
 * @module
 */
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { CLIENTS, isAmong } from "./router.ts";

/** How the annotations of CloudStack begin. */
export const PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer-";
/** The finalizer of load balancers. */
export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
/** The annotation in which a process keeps what it is making. */
export const RECORD = "landfall.dev/load-balancer";

/** When the address was asked for that the record of a Service names, by the clock of the process that asked. */
export function readAskedMs({ metadata }: Service): number | undefined {
  // What people write there need not be JSON.
  const [, at] = /"at":"([^"]+)"/.exec(metadata.annotations?.[RECORD] ?? "") ?? [];
  return at === undefined ? undefined : Date.parse(at);
}

/** The annotation by which a Service chooses its Nodes; here by {@linkcode POOL}. */
export const SELECTOR = "landfall.dev/load-balancer-node-selector";
/** A label of Nodes. */
export const POOL = "example.com/pool";

/** The annotation with which the address of a Service stays, and the tag of one that stays. */
export const KEEP = "landfall.dev/keep-address";
export const KEPT = "landfall.dev/kept-for";

/** The annotation in which a Service names the namespaces that may share its address. */
export const WORD = "landfall.dev/share-address-with";

/** Whether a Service lets another namespace share its address. */
export function sharesWith({ metadata }: Service, namespace: string): boolean {
  const word = metadata.annotations?.[WORD]?.split(",").map((one) => one.trim()) ?? [];
  return metadata.namespace === namespace || word.includes(namespace) || word.includes("*");
}

/** A port that a Service asks for. */
export interface WantedPort {
  readonly port: number;
  readonly nodePort: number;
  /** Of the packets. */
  readonly packets: "tcp" | "udp";
  /** Of the rule. */
  readonly protocol: "tcp" | "udp" | "tcp-proxy";
}

/** Whether a Service is to have a load balancer. */
export function isWanted({ metadata, spec }: Service): boolean {
  return metadata.deletionTimestamp === undefined && spec?.type === "LoadBalancer";
}

/** The name of its load balancer. */
export function toName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, 32);
}

/** The ports that a Service asks for now. */
export function toPorts(service: Service): readonly WantedPort[] {
  if (!isWanted(service)) return [];
  const isProxy = readAnnotation(service, "proxy-protocol") === "true";
  return (service.spec?.ports ?? []).map(({ port, nodePort = 0, protocol = "TCP" }) => {
    const packets = protocol === "UDP" ? "udp" : "tcp";
    return {
      port,
      nodePort,
      packets,
      protocol: packets === "tcp" && isProxy ? "tcp-proxy" : packets,
    };
  });
}

/** The clients that may use a Service now. */
export function toClients(service: Service): readonly string[] {
  if (!isWanted(service)) return [];
  const ranges = service.spec?.loadBalancerSourceRanges ?? [];
  return CLIENTS.filter((client) => ranges.length === 0 || isAmong(client, ranges));
}

/** Whether a Service chooses a Node: it names the pool, or the one that it does not want. */
export function isChosen({ metadata }: Service, node: Node): boolean {
  const [, not, pool] = /(!?)=(.*)$/.exec(metadata.annotations?.[SELECTOR] ?? "") ?? [];
  return pool === undefined || (node.metadata.labels?.[POOL] === pool) === (not === "");
}

/** An annotation of CloudStack. */
export function readAnnotation({ metadata }: Service, name: string): string | undefined {
  return metadata.annotations?.[`${PREFIX}${name}`];
}
