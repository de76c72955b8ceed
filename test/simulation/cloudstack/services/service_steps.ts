/**
 * What people do to Services of type LoadBalancer and to the Nodes behind them, and what goes wrong on the way.
 * @module
 */
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import type { Fault } from "../../../../lib/simulator/cloudstack/mod.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import type { Random } from "../../../support/random.ts";
import type { CloudStackWorld } from "../cloud.ts";
import type { CloudStackBalancing } from "./balancing.ts";
import { FINALIZER, isWanted, KEEP, POOL, PREFIX, SELECTOR } from "./wishes.ts";
import { later, type Step, toStep } from "../../steps/mod.ts";

type ServiceStep = Step<CloudStackWorld>;

/** How many Services there are at most. */
const SERVICES_MAX = 3;
const NAMESPACE = "default";
const PORTS = [80, 443, 5_353, 9_000] as const;
const RANGES = [
  ["10.0.0.0/8"],
  ["10.0.0.0/8", "192.168.0.0/16"],
  ["172.16.0.0/12"],
  ["0.0.0.0/0"],
] as const;
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
/** What a job about an address leaves when it is cut off, only a real server knows. */
const ADDRESS_WRITES = ["associateIpAddress", "disassociateIpAddress"];
const OTHER_WRITES = [
  "createTags",
  "createLoadBalancerRule",
  "updateLoadBalancerRule",
  "deleteLoadBalancerRule",
  "assignToLoadBalancerRule",
  "removeFromLoadBalancerRule",
  "createFirewallRule",
  "deleteFirewallRule",
  "createNetworkACL",
  "deleteNetworkACL",
  "createLBStickinessPolicy",
  "deleteLBStickinessPolicy",
];
const WRITES = [...ADDRESS_WRITES, ...OTHER_WRITES];

const change = ofService("Service changed", 8, (world, balancing, service) => {
  const { random } = world;
  const annotations: JsonObject = {
    [`${PREFIX}proxy-protocol`]: null,
    [`${PREFIX}hostname`]: null,
    [`${PREFIX}stickiness-method-name`]: null,
    [KEEP]: null,
    [SELECTOR]: null,
    ...drawAnnotations(random),
  };
  if (!isWanted(service)) return undefined;
  const patch = random.pick<JsonObject>([
    { spec: { ports: drawPorts(random, balancing) } },
    { spec: { ports: drawPorts(random, balancing) } },
    { spec: { loadBalancerSourceRanges: null, ...drawClients(random) } },
    { spec: { loadBalancerSourceRanges: null, ...drawClients(random) } },
    { spec: { sessionAffinity: "None", sessionAffinityConfig: null, ...drawAffinity(random) } },
    { metadata: { annotations } },
  ]);
  world.server.objects.patch("services", nameOf(service), patch);
  return JSON.stringify(patch);
});

/** Everything that happens where there are load balancers. */
export const SERVICE_STEPS: readonly ServiceStep[] = [
  // Creates a Service.
  step("Service created", 10, (world, balancing) => {
    const { random, server } = world;
    const name = `s${random.between(1, SERVICES_MAX)}`;
    if (server.services.some(({ metadata }) => metadata.name === name)) return undefined;
    const spec = {
      type: "LoadBalancer",
      selector: { app: name },
      ports: drawPorts(random, balancing),
      ...drawClients(random),
      ...drawAffinity(random),
    };
    const annotations = drawAnnotations(random);
    server.objects.create("services", {
      metadata: { name, namespace: NAMESPACE, annotations },
      spec,
    });
    return `${name} ${JSON.stringify({ ...spec, annotations })}`;
  }),
  change,
  ofService("Service gets another type", 1, (world, balancing, service) => {
    const { objects } = world.server;
    const isBalanced = isWanted(service);
    const ports = drawPorts(world.random, balancing);
    const spec: JsonObject = isBalanced
      ? {
          type: "ClusterIP",
          loadBalancerSourceRanges: null,
          loadBalancerIP: null,
          ports: ports.map((port) => ({ ...port, nodePort: null })),
        }
      : { type: "LoadBalancer", ports };
    objects.patch("services", nameOf(service), { spec });
    return JSON.stringify(spec);
  }),
  ofService("Service deleted", 4, (world, { knowledge }, service) => {
    const { uid = "", finalizers = [] } = service.metadata;
    const life = knowledge.find(uid);
    // Without it, the Service goes before anybody has cleaned up.
    if (life && !finalizers.includes(FINALIZER)) life.mayLeak = true;
    world.server.objects.delete("services", nameOf(service));
    return "";
  }),
  step("Node excluded from load balancers", 3, (world) => {
    const { random, server } = world;
    if (server.nodes.length === 0) return undefined;
    const { name } = random.pick(server.nodes).metadata;
    const value = random.pick(["", "true", "false", null, null]);
    server.objects.patchNode(name, { metadata: { labels: { [EXCLUDED]: value } } });
    return `${name} ${value}`;
  }),
  step("Node gets a label that Services choose by", 3, (world) => {
    const { random, server } = world;
    if (server.nodes.length === 0) return undefined;
    const { name } = random.pick(server.nodes).metadata;
    const value = random.pick(["a", "a", "b", null]);
    server.objects.patchNode(name, { metadata: { labels: { [POOL]: value } } });
    return `${name} ${value}`;
  }),
  // A change that CloudStack does not carry out, or without an answer, or much later.
  step("change of load balancers fails", 10, (world) => {
    const { random, cloud, timeline } = world;
    const fault = random.pick<Fault>([
      { kind: "reset" },
      { kind: "resetAfter" },
      { kind: "resetAfter" },
      { kind: "hang" },
      { kind: "hangAfter" },
      { kind: "halfBody" },
      { kind: "delay", ms: random.between(1_000, 40_000) },
      { kind: "error", code: random.pick([431, 530, 533, 537]) },
      { kind: "failedJob", code: 530, text: "Failed to apply", isLate: random.chance(0.5) },
      { kind: "failedJob", code: 530, text: "Failed to apply", isLate: true },
      { kind: "endlessJob" },
      { kind: "cutOffJob" },
    ]);
    const writes = fault.kind === "cutOffJob" ? OTHER_WRITES : WRITES;
    const command = random.chance(0.3) ? writes : random.pick(writes);
    const ms = random.between(5_000, 60_000);
    const times = random.between(1, 3);
    timeline.schedule(ms, cloud.server.faults.set(fault, { command, times }));
    if (fault.kind === "endlessJob") later(world, ms, () => cloud.server.jobs.releaseAll());
    const what = typeof command === "string" ? command : "any change";
    return `${JSON.stringify(fault)} to ${what}, ${times} times in ${ms} ms`;
  }),
  // A list of one part of load balancers fails.
  step("list of load balancers fails", 3, (world) => {
    const { random, cloud, timeline } = world;
    const fault = random.pick<Fault>([
      { kind: "error", code: random.pick([401, 432, 503, 530, 531]) },
      { kind: "error", code: 429 },
      { kind: "html", status: 502 },
      { kind: "delay", ms: random.between(1_000, 40_000) },
      { kind: "hang" },
      { kind: "halfBody" },
      { kind: "reset" },
    ]);
    const command = random.pick([
      "listPublicIpAddresses",
      "listLoadBalancerRules",
      "listLoadBalancerRuleInstances",
      "listFirewallRules",
      "listNetworkACLs",
      "listNetworks",
      "listLBStickinessPolicies",
      "listAsyncJobs",
      "queryAsyncJobResult",
    ]);
    const ms = random.between(1_000, 40_000);
    timeline.schedule(ms, cloud.server.faults.set(fault, { command }));
    return `${JSON.stringify(fault)} to ${command} for ${ms} ms`;
  }),
  // The API server refuses what is asked about Services.
  step("API server refuses Services", 2, (world) => {
    const { random, server, timeline } = world;
    const rule = {
      status: random.pick([409, 429, 500, 503]),
      resource: random.pick(["services", "services/status"]),
      retryAfterSeconds: random.between(1, 8),
    };
    const ms = random.between(500, 20_000);
    timeline.schedule(ms, server.faults.refuse(rule));
    return `${JSON.stringify(rule)} for ${ms} ms`;
  }),
];

/** Draws the ports of a Service. */
export function drawPorts(random: Random, balancing: CloudStackBalancing): JsonObject[] {
  const ports = PORTS.filter(() => random.chance(0.5));
  return (ports.length === 0 ? [80] : ports).map((port) => ({
    name: `p${port}`,
    port,
    nodePort: 30_000 + balancing.next(),
    protocol: random.chance(0.2) ? "UDP" : "TCP",
    appProtocol: "http",
  }));
}

function drawClients(random: Random): JsonObject {
  return random.chance(0.5) ? { loadBalancerSourceRanges: [...random.pick(RANGES)] } : {};
}

function drawAffinity(random: Random): JsonObject {
  return random.chance(0.3) ? { sessionAffinity: "ClientIP" } : {};
}

function drawAnnotations(random: Random): Record<string, string> {
  return {
    ...(random.chance(0.2) && { [`${PREFIX}proxy-protocol`]: "true" }),
    ...(random.chance(0.1) && { [`${PREFIX}hostname`]: "web.example.com" }),
    ...(random.chance(0.1) && { [KEEP]: "true" }),
    ...(random.chance(0.1) && { [SELECTOR]: random.pick([`${POOL}=a`, `${POOL}!=a`]) }),
    ...(random.chance(0.2) && {
      [`${PREFIX}stickiness-method-name`]: random.pick(["SourceBased", "LbCookie"]),
    }),
  };
}

/** How the API server finds a Service. */
export function nameOf({ metadata: { name, namespace = NAMESPACE } }: Service): {
  name: string;
  namespace: string;
} {
  return { name, namespace };
}

/** What happens where there are load balancers. */
export function step(
  name: string,
  weight: number,
  act: (world: CloudStackWorld, balancing: CloudStackBalancing) => string | undefined,
): ServiceStep {
  return toStep(name, weight, (world) => {
    const { balancing } = world.cloud;
    return balancing && act(world, balancing);
  });
}

/** What happens to one of the Services that are not being deleted. */
export function ofService(
  name: string,
  weight: number,
  act: (
    world: CloudStackWorld,
    balancing: CloudStackBalancing,
    service: Service,
  ) => string | undefined,
): ServiceStep {
  return step(name, weight, (world, balancing) => {
    const { random, server } = world;
    const all = server.services.filter(
      ({ metadata }) => metadata.name !== "kubernetes" && metadata.deletionTimestamp === undefined,
    );
    if (all.length === 0) return undefined;
    const service = random.pick(all);
    const what = act(world, balancing, service);
    return what === undefined ? undefined : `${service.metadata.name} ${what}`;
  });
}
