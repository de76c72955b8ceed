/**
 * Services and networks for tests of plans.
 * @module
 */
import type {
  LoadBalancerBackend,
  LoadBalancerClaim,
  LoadBalancerIngress,
  LoadBalancerOwner,
  LoadBalancerPlan,
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import { plan } from "../../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import { planRelease } from "../../../../../lib/providers/cloudstack/load_balancers/release.ts";
import type { Step } from "../../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import type {
  Network,
  StickinessMethod,
} from "../../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { SIGNER } from "../objects.ts";
import { CloudModel } from "./cloud_model.ts";

export const UID = "01234567-89ab-4cde-8f01-23456789abcd";
export const LB_NAME = "a0123456789ab4cde8f0123456789abc";
export const OWNER: LoadBalancerOwner = { namespace: "shop", name: "web", uid: UID };
export const DESCRIPTION = "Managed by Landfall for shop/web";
export const REASON: string = `Managed by Landfall for ${LB_NAME}`;
const PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer-";

export const HTTP: LoadBalancerPort = { name: "http", protocol: "TCP", port: 80, nodePort: 30_080 };
export const HTTPS: LoadBalancerPort = {
  name: "https",
  protocol: "TCP",
  port: 443,
  nodePort: 30_443,
};

/** Annotations of CloudStack by the end of their name. */
export function annotate(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [PREFIX + key, value]));
}

/** A Service on two Nodes, unless told otherwise. */
export function toSpec(fields: Partial<LoadBalancerSpec> = {}): LoadBalancerSpec {
  return {
    owner: OWNER,
    annotations: {},
    labels: {},
    ingress: [],
    ports: [HTTP],
    trafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    backends: [toBackend(1), toBackend(2)],
    ...fields,
  };
}

/** The Node `node-<number>`, whose VM {@linkcode createCloud} makes. */
export function toBackend(number: number, network = 1): LoadBalancerBackend {
  return {
    nodeName: `node-${number}`,
    instanceId: `vm-${number}`,
    internalIps: [`10.${network}.0.${number}`],
  };
}

const STICKINESS: readonly StickinessMethod[] = [
  {
    name: "LbCookie",
    params: new Map(
      ["cookie-name", "mode", "domain", "nocache", "indirect", "postonly"].map(toParam),
    ),
  },
  {
    name: "SourceBased",
    params: new Map(["tablesize", "expire"].map(toParam)),
  },
];

function toParam(name: string): readonly [string, { readonly isRequired: boolean }] {
  return [name, { isRequired: false }];
}

/** A network in which everything is possible, with a firewall. */
export function toNetwork(fields: Partial<Network> & { readonly id: string }): Network {
  return {
    name: fields.id,
    hasLoadBalancers: true,
    hasFirewall: true,
    hasNetworkAcl: false,
    hasDns: false,
    algorithms: new Set(["roundrobin", "leastconn", "source"]),
    protocols: new Set(["tcp", "udp", "tcp-proxy"]),
    stickiness: STICKINESS,
    ...fields,
  };
}

/** Kinds of networks, each with the ID `net-1`. */
export const KINDS: Readonly<Record<"firewall" | "tier" | "tierAllow" | "open", Network>> = {
  firewall: toNetwork({ id: "net-1" }),
  tier: toNetwork({
    id: "net-1",
    vpcId: "vpc-1",
    hasFirewall: false,
    hasNetworkAcl: true,
    aclListId: "list-1",
    aclListName: "own",
  }),
  tierAllow: toNetwork({
    id: "net-1",
    vpcId: "vpc-1",
    hasFirewall: false,
    hasNetworkAcl: true,
    aclListId: "list-allow",
    aclListName: "default_allow",
  }),
  open: toNetwork({ id: "net-1", hasFirewall: false }),
};

/** A CloudStack with the VMs 1 to 4 in one network, and free addresses. VM 4 is in another network, `net-2`. */
export function createCloud(kind: keyof typeof KINDS = "firewall"): CloudModel {
  const cloud = new CloudModel();
  cloud.networks.set("net-1", KINDS[kind]);
  cloud.networks.set("net-2", toNetwork({ id: "net-2" }));
  if (kind === "tier") cloud.aclItems.set("list-1", []);
  for (const number of [1, 2, 3, 4]) {
    const network = number === 4 ? 2 : 1;
    const nics = [{ networkId: `net-${network}`, ips: [`10.${network}.0.${number}`] }];
    cloud.vms.set(`vm-${number}`, { id: `vm-${number}`, isGone: false, nics });
  }
  cloud.free.push("192.0.2.10", "192.0.2.11", "192.0.2.12");
  return cloud;
}

/** Where addresses of a network are: in it, or in its VPC. */
export function placeOf({ id, vpcId }: Network): { networkId: string } | { vpcId: string } {
  return vpcId === undefined ? { networkId: id } : { vpcId };
}

/** What a run to rest left. */
export interface Outcome {
  readonly plan: LoadBalancerPlan<Step>;
  /** What was done, in order. */
  readonly done: readonly string[];
  readonly ingress: readonly LoadBalancerIngress[];
  /** The annotation. */
  readonly record: string | undefined;
}

/** The annotation as Landfall writes it. @param parts As in the annotation, in the order of its fields */
export function toRecord(parts: object, uid: string = UID): string {
  const content = { v: 1, uid, ...parts };
  return JSON.stringify({ ...content, signature: SIGNER.sign(JSON.stringify(content)) });
}

const STEPS_MAX = 100;

/**
 * Plans and applies the first step, until nothing is left to do. The status is written as soon as a plan has one.
 *
 * @param check Called after every step
 */
export function converge(
  cloud: CloudModel,
  spec: LoadBalancerSpec,
  check: (step: Step) => void = () => {},
): Outcome {
  const { record: _, ...rest } = spec;
  return run(cloud, spec, (claim) => plan(cloud.observation(), { ...rest, ...claim }), check);
}

/** As {@linkcode converge}, on a new cloud. */
export function serve(
  spec: LoadBalancerSpec,
  check?: (step: Step) => void,
): Outcome & { readonly cloud: CloudModel } {
  const cloud = createCloud();
  return { cloud, ...converge(cloud, spec, check) };
}

/** As {@linkcode converge}, for a Service that goes. */
export function release(
  cloud: CloudModel,
  claim: LoadBalancerClaim,
  check: (step: Step) => void = () => {},
): Outcome {
  const { record: _, ...rest } = claim;
  return run(cloud, claim, (one) => planRelease(cloud.observation(), { ...rest, ...one }), check);
}

function run(
  cloud: CloudModel,
  claim: LoadBalancerClaim,
  next: (claim: Pick<LoadBalancerClaim, "ingress" | "record">) => LoadBalancerPlan<Step>,
  check: (step: Step) => void,
): Outcome {
  const done: string[] = [];
  let { ingress, record } = claim;
  for (let count = 0; count < STEPS_MAX; count += 1) {
    const planned = next({ ingress, ...(record !== undefined && { record }) });
    const isShown = planned.ingress === undefined || Bun.deepEquals(planned.ingress, ingress);
    ingress = planned.ingress ?? ingress;
    const [step] = planned.steps;
    if (step === undefined && isShown) return { plan: planned, done, ingress, record };
    if (step === undefined || !isShown) continue;
    done.push(step.summary);
    cloud.apply(step);
    if (step.change.kind === "tagAddress" || step.change.kind === "forgetRecord")
      record = undefined;
    if (step.change.kind === "keepShared")
      record = toRecord({ shared: step.change.ip }, step.owner.uid);
    check(step);
  }
  throw new Error(`No rest after ${STEPS_MAX} steps: ${done.slice(-6).join("; ")}`);
}
