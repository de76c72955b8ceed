/**
 * Plans the load balancers of a cluster, with their configuration: Landfall's own, or that of a template.
 * @module
 */
import type {
  LoadBalancerControlPlane,
  LoadBalancerWorker,
  Role,
  SipServices,
} from "../../resource/sip_cluster.ts";
import { CONDITION_WORDS, SERVICE_FAILURE } from "../../resource/words.ts";
import { listUnknown } from "../addresses.ts";
import {
  type Port,
  type Server,
  formatConfig,
  formatHealthFrontend,
  listServers,
} from "./haproxy_config.ts";
import { type ServicePort, planObjects } from "./objects.ts";
import { TemplateProblem, type Value, renderTemplate } from "./template.ts";
import {
  API_PORT,
  API_PORT_NAME,
  DEFAULT_IMAGE,
  LOAD_BALANCERS,
  type LoadBalancerKind,
  type LoadBalancerWords,
} from "./words.ts";
import { toObjectName } from "../names.ts";
import type { Machine, ServiceInput, ServicePlan } from "../types.ts";

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

/** `data` of a ConfigMap. */
type TemplateData = Readonly<Record<string, string>>;

/** What a configuration is made from. */
export interface ConfigurationInput {
  readonly words: LoadBalancerWords;
  readonly ports: readonly Port[];
  readonly servers: readonly Server[];
  readonly healthPort: number;
  /** Absent: Landfall's own configuration. */
  readonly template: TemplateData | undefined;
}

type Problem = NonNullable<ServicePlan["problem"]>;

/** A configuration, or why there is none. */
export type Configuration =
  | { readonly config: string; readonly problem?: undefined }
  | { readonly config?: undefined; readonly problem: Problem };

/** A ConfigMap has at most 1 MiB; its metadata needs some of it. */
const BYTES_MAX = 1_000_000;

/**
 * Makes the configuration. The frontend for probes stands at its end, also after a template.
 *
 * A template that has an error in it gives a problem, and so nothing is changed. What Landfall accepts and HAProxy does
 * not, the init container of the Pods refuses: then the Pods that serve go on, and the Deployment makes no progress.
 */
export function configure(input: ConfigurationInput): Configuration {
  const { words, ports, servers, healthPort } = input;
  const text = renderOwn(input) ?? formatConfig({ kind: words.kind, ports, servers });
  if (typeof text !== "string") return { problem: text };
  const config = text + formatHealthFrontend(healthPort);
  const bytes = Buffer.byteLength(config);
  if (bytes <= BYTES_MAX) return { config };
  const counts = `${ports.length} ports and ${servers.length} servers`;
  const message = `The configuration of HAProxy for ${counts} has ${bytes} bytes, and may have ${BYTES_MAX}`;
  return { problem: { reason: SERVICE_FAILURE, message } };
}

/** What the template gives, with a line feed at its end; `undefined` if there is no template. */
function renderOwn({
  words,
  ports,
  servers,
  template,
}: ConfigurationInput): string | Problem | undefined {
  if (template === undefined) return undefined;
  const { configMap, key } = words.template;
  const refuse = (message: string, reason: string = SERVICE_FAILURE): Problem => ({
    reason,
    message: `ConfigMap ${configMap}: ${message}`,
  });
  const source = Object.hasOwn(template, key) ? template[key] : undefined;
  if (source === undefined || source.trim() === "") return refuse(`key ${key} has no text`);
  try {
    const text = renderTemplate(source, toData(ports, servers), EXAMPLE);
    return text.endsWith("\n") ? text : `${text}\n`;
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    const { isTooLarge, line, message } = error;
    const reason = isTooLarge ? CONDITION_WORDS.ServicesReady.template.reason : SERVICE_FAILURE;
    return refuse(`${key}, line ${line}: ${message}`, reason);
  }
}

const EXAMPLE = toData([{ name: "a", port: 1 }], [{ name: "a", address: "192.0.2.1" }]);

/** The names are those of the original operator. */
function toData(ports: readonly Port[], servers: readonly Server[]): Value {
  return {
    ContainerPorts: ports.map(({ name, port }) => ({ Name: name, ContainerPort: port })),
    Servers: servers.map(({ name, address }) => ({ Name: name, IP: address })),
  };
}
