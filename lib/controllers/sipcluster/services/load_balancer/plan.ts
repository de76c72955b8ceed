/**
 * Plans the load balancers of a cluster.
 * @module
 */
import type {
  LoadBalancerControlPlane,
  LoadBalancerWorker,
  Role,
  SipServices,
} from "../../resource/sip_cluster.ts";
import { SERVICE_FAILURE } from "../../resource/words.ts";
import { toObjectName } from "../names.ts";
import type { Machine, ServiceInput, ServicePlan } from "../types.ts";
import { listUnknown } from "../addresses.ts";
import { configure, type TemplateData } from "./configuration.ts";
import { planObjects, type ServicePort } from "./objects.ts";
import { listServers, type Server } from "./servers.ts";
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

/**
 * Plans one service for each entry of `spec.services.loadBalancerControlPlane` and `loadBalancerWorker`. To render a
 * template takes long, so let other work go on between them.
 */
export function* planLoadBalancers(
  input: ServiceInput,
  { templates = {} }: LoadBalancerOptions = {},
): Generator<ServicePlan> {
  const { services } = input.cluster.spec ?? {};
  for (const words of LOAD_BALANCERS) {
    for (const [index, entry] of listEntries(services, words.kind).entries())
      yield planOne(input, { words, entry, index, template: templates[words.kind] });
  }
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
  { cluster, machines, tolerations }: ServiceInput,
  { words, entry: { fields, ports }, index, template }: OneInput,
): ServicePlan {
  const service = index === 0 ? words.kind : `${words.kind}[${index}]`;
  const healthPort = toHealthPort(ports);
  const servers = listServers(machines, words.role, fields.nodeInterfaceId);
  const loss = findLoss(machines, words.role, { servers, fields });
  const { config, problem } = configure({ words, ports, servers, healthPort, template });
  if (problem) return { service, objects: [], problem };
  if (loss) return { service, objects: [], problem: loss };
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
      tolerations,
      ...(nodeLabels && { nodeLabels }),
      ...(clusterIP && { clusterIP }),
    }),
    deployment: name,
    ...listUnknown(
      machines.filter(({ role }) => role === words.role),
      fields.nodeInterfaceId,
    ),
  };
}

/**
 * Why a load balancer stays as it is: it has hosts, but the address of none is known. Their Secrets may be gone for a
 * moment, and clients of the cluster would lose all servers.
 */
function findLoss(
  machines: readonly Machine[],
  role: Role,
  { servers, fields }: Pick<Entry, "fields"> & { readonly servers: readonly Server[] },
): ServicePlan["problem"] {
  const count = machines.filter((machine) => machine.role === role).length;
  if (count === 0 || servers.length > 0) return undefined;
  const message =
    `no host of role ${role} has an address on network "${fields.nodeInterfaceId}". Landfall leaves the load ` +
    "balancer as it is";
  return { reason: SERVICE_FAILURE, message };
}

function toHealthPort(ports: readonly ServicePort[]): number {
  const used = new Set(ports.map(({ port }) => port));
  let healthPort = HEALTH_PORT;
  while (used.has(healthPort)) healthPort += 1;
  return healthPort;
}
