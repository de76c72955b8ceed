/**
 * Words of load balancers in a cluster. Those of the original operator never change.
 * @module
 */
import type { Role } from "../../resource/sip_cluster.ts";

/** The lists of `spec.services` whose entries are load balancers. */
export type LoadBalancerKind = "loadBalancerControlPlane" | "loadBalancerWorker";

/** What differs between the load balancers of the two roles. */
export interface LoadBalancerWords {
  readonly kind: LoadBalancerKind;
  /** Its servers are the hosts of this role. */
  readonly role: Role;
  /** Objects are named `<prefix>-<cluster>`. */
  readonly prefix: string;
  /** A ConfigMap in the namespace of the SIPCluster, and its key, with a template that replaces the configuration. */
  readonly template: { readonly configMap: string; readonly key: string };
}

/** Both, in the order in which they are planned. */
export const LOAD_BALANCERS: readonly LoadBalancerWords[] = [
  {
    kind: "loadBalancerControlPlane",
    role: "ControlPlane",
    prefix: "loadbalancer-controlplane",
    template: { configMap: "loadbalancercontrolplane", key: "loadBalancerControlPlane.cfg" },
  },
  {
    kind: "loadBalancerWorker",
    role: "Worker",
    prefix: "loadbalancer-worker",
    template: { configMap: "loadbalancerworker", key: "loadBalancerWorker.cfg" },
  },
];

/** Label `component`, and the name of the container. */
export const COMPONENT = "loadbalancer";
/** The program in the Pods. */
export const APP = "haproxy";
/** Key of the ConfigMap, and name of the file. */
export const CONFIG_FILE = "haproxy.cfg";
/** Where API servers listen, on the hosts and before them. */
export const API_PORT = 6443;
/** Name of the API servers' port in the Service. */
export const API_PORT_NAME = "http";

/** Used if an entry names no image: a branch with long-term support, until 2030. */
export const DEFAULT_IMAGE = "docker.io/library/haproxy:3.2.26";
