/**
 * SIPClusters: which hosts a tenant's cluster wants, and which services stand before it.
 * @module
 */
import type { Kind } from "../../../kube/kinds/kind.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";

/** The roles of hosts, as the labels and old tooling write them. */
export const ROLES = ["ControlPlane", "Worker"] as const;
/** What a host is for. */
export type Role = (typeof ROLES)[number];

/** Which objects have these labels, as in Kubernetes. Empty: every object. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/** The hosts that a role wants. */
export interface NodeSet {
  readonly labelSelector?: LabelSelector;
  /** A label of hosts. Two hosts of the role never have the same value of it. A host without the label has no limit. */
  readonly topologyKey?: string;
  /** The same for several labels at once, in addition to `topologyKey`. @default {[]} */
  readonly topologyKeys?: readonly string[];
  /** Absent counts as 0. */
  readonly count?: { readonly active?: number; readonly standby?: number };
}

/** How hosts are chosen and given back. */
export interface Scheduling {
  /** Whether anti-affinity holds between roles, too. @default {false} */
  readonly spreadAcrossRoles?: boolean;
  /** Whether hosts with a consumer may be given back. @default {false} */
  readonly releaseConsumedHosts?: boolean;
}

/** What every service has. */
export interface ServiceFields {
  /** Container image. @default {depends on the service; required where old manifests required it} */
  readonly image?: string;
  /** ID of the network in the hosts' network data from which their addresses are taken, such as `oam-ipv4`. */
  readonly nodeInterfaceId?: string;
  /** Labels of the Nodes on which the Pods run. @default {any Node} */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** `spec.clusterIP` of the Service. @default {Kubernetes chooses} */
  readonly clusterIP?: string;
}

/** A load balancer for the API servers of the cluster. */
export interface LoadBalancerControlPlane extends ServiceFields {
  readonly nodePort: number;
}
/** A load balancer for node ports of the cluster. */
export interface LoadBalancerWorker extends ServiceFields {
  /** Both ends included. */
  readonly nodePortRange: { readonly start: number; readonly end: number };
}
/** A host from which users reach the hosts of the cluster. */
export interface JumpHost extends ServiceFields {
  readonly nodePort: number;
  /** Name of a Secret in the SIPCluster's namespace: each key is a file with a private key. */
  readonly nodeSSHPrivateKeys: string;
  readonly sshAuthorizedKeys?: readonly string[];
  readonly bmc?: { readonly proxy?: boolean };
}
/** An OIDC provider for the cluster. */
export interface Auth extends ServiceFields {
  readonly nodePort: number;
  readonly issuerURL?: string;
  /** Name of a Secret with Dex's configuration, key `config.yaml`. */
  readonly configSecret?: string;
  /** Name of a Secret of type kubernetes.io/tls. */
  readonly tlsSecret?: string;
  /** The field of old manifests: a Secret with the CA. */
  readonly caSecret?: string;
}

/** The services of a cluster. */
export interface SipServices {
  readonly loadBalancerControlPlane?: readonly LoadBalancerControlPlane[];
  readonly loadBalancerWorker?: readonly LoadBalancerWorker[];
  readonly jumpHost?: readonly JumpHost[];
  readonly auth?: readonly Auth[];
}

/** What a cluster wants. */
export interface SipClusterSpec {
  readonly nodes?: Readonly<Partial<Record<Role, NodeSet>>>;
  readonly services: SipServices;
  readonly scheduling?: Scheduling;
}

/** A condition, as in Kubernetes. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** What a cluster has. */
export interface SipClusterStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  /** By role. `ready`: labelled hosts; `wanted`: active + standby. */
  readonly counts?: Readonly<
    Partial<Record<Role, { wanted: number; active: number; standby: number; summary: string }>>
  >;
  readonly hosts?: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly role: Role;
    readonly standby: boolean;
    readonly addresses: readonly string[];
  }[];
  readonly endpoints?: readonly { readonly service: string; readonly nodePort: number }[];
}

/** A SIPCluster. */
export interface SipCluster extends KubeObject {
  readonly spec?: SipClusterSpec;
  readonly status?: SipClusterStatus;
}

/** SIPClusters. */
export const SIP_CLUSTERS: Kind<SipCluster> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "SIPCluster",
  plural: "sipclusters",
  namespaced: true,
  metadata: ["finalizers", "generation"],
};
