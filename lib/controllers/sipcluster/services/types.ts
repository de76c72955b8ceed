/**
 * What the services of a cluster are made from, and what they are made of.
 * @module
 */
import type { V1Toleration } from "@kubernetes/client-node";
import type { KubeObject, Raw, Resource } from "../../../kube/kinds/resource.ts";
import type { Role, SipCluster } from "../resource/sip_cluster.ts";

/** A host of the cluster, as its services see it. */
export interface Machine {
  /** Of the BareMetalHost. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly role: Role;
  readonly standby: boolean;
  /** Static addresses without a prefix length, by the ID of the network. */
  readonly addresses: ReadonlyMap<string, string>;
  /**
   * Networks of which is not known whether the host has an address there: its network data cannot be read. Absent:
   * none.
   */
  readonly unknown?: ReadonlySet<string>;
}

/** What services are planned from. */
export interface ServiceInput {
  readonly cluster: SipCluster;
  /** In the order of their keys. */
  readonly machines: readonly Machine[];
  /** Of all Pods, as the operator sets them. */
  readonly tolerations: readonly Raw<V1Toleration>[];
}

/** An object that Landfall applies and owns. */
export interface OwnedObject {
  readonly resource: Resource<KubeObject>;
  /** Whole: `apiVersion`, `kind`, metadata with name, namespace, labels; without owner references. */
  readonly body: KubeObject;
}

/** What one entry of `spec.services` becomes. */
export interface ServicePlan {
  /** `loadBalancerControlPlane`, `jumpHost[1]`. */
  readonly service: string;
  readonly objects: readonly OwnedObject[];
  /** The Deployment that must be available. */
  readonly deployment?: string;
  /** A Secret of users that its Pods mount, and without which they do not start. Absent: none is mounted unread. */
  readonly mountedSecret?: string;
  /** Names of hosts whose addresses it needs, and which are not known. Absent: none. */
  readonly unknownHosts?: readonly string[];
  /** What to know of it although it is ready. */
  readonly notice?: { readonly reason: string; readonly message: string };
  /** Why it cannot be made as wanted, for the condition; nothing of it is changed then, unless it must end. */
  readonly problem?: { readonly reason: string; readonly message: string };
  /** Whether what was made of it goes, because it is a danger to others. @default {false} */
  readonly mustEnd?: true;
}
