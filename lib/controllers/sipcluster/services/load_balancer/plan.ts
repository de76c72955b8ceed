/**
 * Plans the load balancers of a cluster.
 * @module
 */
import type {
  LoadBalancerControlPlane,
  LoadBalancerWorker,
  SipServices,
} from "../../resource/sip_cluster.ts";
import { toObjectName } from "../names.ts";
import type { ServiceInput, ServicePlan } from "../types.ts";
import { configure, type TemplateData } from "./configuration.ts";
import { planObjects, type ServicePort } from "./objects.ts";
import { listServers } from "./servers.ts";
import {
  API_PORT,
  API_PORT_NAME,
  DEFAULT_IMAGE,
  LOAD_BALANCERS,
  type LoadBalancerKind,
  type LoadBalancerWords,
} from "./words.ts";

/** What stands beside the SIPCluster. */
export interface LoadBalancerOptions {
  /** `data` of the ConfigMaps that replace the configuration. Absent: there is no such ConfigMap. */
  readonly templates?: Readonly<Partial<Record<LoadBalancerKind, TemplateData>>>;
}

/** Where probes are answered, unless the load balancer listens there. */
const HEALTH_PORT = 8404;

/** Plans one service for each entry of `spec.services.loadBalancerControlPlane` and `loadBalancerWorker`. */
export function planLoadBalancers(
  input: ServiceInput,
  { templates = {} }: LoadBalancerOptions = {},
): ServicePlan[] {
  const { services } = input.cluster.spec ?? {};
  return LOAD_BALANCERS.flatMap((words) =>
    listEntries(services, words.kind).map((entry, index) =>
      planOne(input, { words, entry, index, template: templates[words.kind] }),
    ),
  );
}

/** An entry with its ports. */
interface Entry {
  readonly fields: LoadBalancerControlPlane | LoadBalancerWorker;
  readonly ports: readonly ServicePort[];
}

function listEntries(services: SipServices | undefined, kind: LoadBalancerKind): readonly Entry[] {
  if (kind === "loadBalancerControlPlane") {
    return (services?.[kind] ?? []).map((fields) => ({
      fields,
      ports: [{ name: API_PORT_NAME, port: API_PORT, nodePort: fields.nodePort }],
    }));
  }
  return (services?.[kind] ?? []).map((fields) => {
    const { start, end } = fields.nodePortRange;
    const ports = Array.from({ length: end - start + 1 }, (_, at) => start + at);
    return {
      fields,
      ports: ports.map((port) => ({ name: `port-${port}`, port, nodePort: port })),
    };
  });
}

interface OneInput {
  readonly words: LoadBalancerWords;
  readonly entry: Entry;
  readonly index: number;
  readonly template: TemplateData | undefined;
}

function planOne(
  { cluster, machines }: ServiceInput,
  { words, entry: { fields, ports }, index, template }: OneInput,
): ServicePlan {
  const service = index === 0 ? words.kind : `${words.kind}[${index}]`;
  const healthPort = toHealthPort(ports);
  const { config, problem } = configure({
    words,
    ports,
    servers: listServers(machines, words.role, fields.nodeInterfaceId),
    healthPort,
    template,
  });
  const endpoints = ports.map(({ nodePort }) => ({ service, nodePort }));
  if (problem) return { service, objects: [], endpoints, problem };
  const { name: clusterName, namespace = "" } = cluster.metadata;
  const name = toObjectName(words.prefix, clusterName, index);
  const { image = "", nodeLabels, clusterIP } = fields;
  return {
    service,
    objects: planObjects({
      name,
      namespace,
      config,
      // Old manifests may have an empty one.
      image: image || DEFAULT_IMAGE,
      ports,
      healthPort,
      ...(nodeLabels && { nodeLabels }),
      ...(clusterIP && { clusterIP }),
    }),
    deployment: name,
    endpoints,
  };
}

function toHealthPort(ports: readonly ServicePort[]): number {
  const used = new Set(ports.map(({ port }) => port));
  let healthPort = HEALTH_PORT;
  while (used.has(healthPort)) healthPort += 1;
  return healthPort;
}
