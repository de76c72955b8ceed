/**
 * Services, reduced to the fields that decide about their load balancers.
 * @module
 */
import type { V1LoadBalancerIngress, V1ServicePort, V1ServiceSpec } from "@kubernetes/client-node";
import { OWN_PREFIX } from "../../core/text/label.ts";
import {
  isListOf,
  isText,
  isTexts,
  type Kind,
  type KubeObject,
  pick,
  type Raw,
  type Shapes,
} from "./resource.ts";
import { isFields } from "../../core/text/values.ts";

const SPEC_FIELDS = [
  "type",
  "loadBalancerClass",
  "loadBalancerIP",
  "loadBalancerSourceRanges",
  "ports",
  "sessionAffinity",
  "sessionAffinityConfig",
  "externalIPs",
  "externalTrafficPolicy",
  "healthCheckNodePort",
  "ipFamilies",
  "ipFamilyPolicy",
] as const;

/** What is kept of a Service whose traffic goes to Nodes with its Pods. */
const OF_LOCAL: readonly ((typeof SPEC_FIELDS)[number] | "selector")[] = [
  ...SPEC_FIELDS,
  "selector",
];

/** What is kept of every Service. */
const OF_ALL = ["type", "loadBalancerIP", "externalIPs"] as const;

/** A Service, reduced to the fields that Landfall reads. Without a load balancer: type and addresses. */
export interface Service extends KubeObject {
  readonly spec?: Pick<Raw<V1ServiceSpec>, (typeof OF_LOCAL)[number]> | undefined;
  readonly status?:
    | { readonly loadBalancer?: { readonly ingress?: readonly Raw<V1LoadBalancerIngress>[] } }
    | undefined;
}

/** A port of a Service on the wire. */
export type ServicePort = Raw<V1ServicePort>;
/** An entry of the status of a Service on the wire. */
export type ServiceIngress = Raw<V1LoadBalancerIngress>;

/** Landfall's own, those of cloud controllers, and those of kube-vip. */
const ANNOTATIONS = [OWN_PREFIX, "service.beta.kubernetes.io/", "kube-vip.io/"];
/** Those with which users ask MetalLB. MetalLB itself writes others. */
const METALLB = /^metallb\.(?:io|universe\.tf)\/(?:loadBalancerIPs|address-pool|allow-shared-ip)$/;

const isNumber = (value: unknown): boolean => typeof value === "number";

const isPorts = isListOf({
  name: isText,
  protocol: isText,
  nodePort: isNumber,
  appProtocol: isText,
});
const haveNumbers = isListOf((port) => isFields(port) && isNumber(port["port"]));

const SHAPES: Shapes = {
  spec: {
    type: isText,
    loadBalancerClass: isText,
    loadBalancerIP: isText,
    loadBalancerSourceRanges: isListOf(isText),
    ports: (value) => isPorts(value) && haveNumbers(value),
    selector: isTexts,
    sessionAffinity: isText,
    sessionAffinityConfig: { clientIP: { timeoutSeconds: isNumber } },
    externalIPs: isListOf(isText),
    externalTrafficPolicy: isText,
    healthCheckNodePort: isNumber,
    ipFamilies: isListOf(isText),
    ipFamilyPolicy: isText,
  },
  status: {
    loadBalancer: { ingress: isListOf({ ip: isText, hostname: isText, ipMode: isText }) },
  },
};

/** Services. */
export const SERVICES: Kind<Service> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  metadata: ["finalizers"],
  // Those that Landfall reads. Users and other programs may write long ones.
  keepsAnnotation: (key) =>
    ANNOTATIONS.some((prefix) => key.startsWith(prefix)) || METALLB.test(key),
  keep,
  shapes: SHAPES,
};

/**
 * The finalizer of a Service for which a cloud controller manager made a load balancer. Programs such as MetalLB do not
 * set it. Source: https://pkg.go.dev/k8s.io/cloud-provider/service/helpers
 */
export const LOAD_BALANCER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";

/** Whether a cloud made a load balancer for a Service, and must remove it again. */
export function hasCloudLoadBalancer({ metadata: { finalizers } }: Service): boolean {
  // It comes from the wire, unchecked.
  return Array.isArray(finalizers) && finalizers.includes(LOAD_BALANCER_CLEANUP);
}

function keep({ spec, status }: Service): { spec: Service["spec"]; status: Service["status"] } {
  const ingress = status?.loadBalancer?.ingress;
  const ofBalanced = spec?.externalTrafficPolicy === "Local" ? OF_LOCAL : SPEC_FIELDS;
  const names = spec?.type === "LoadBalancer" ? ofBalanced : OF_ALL;
  return {
    spec: spec && pick(spec, names),
    status: ingress && ingress.length > 0 ? { loadBalancer: { ingress } } : undefined,
  };
}
