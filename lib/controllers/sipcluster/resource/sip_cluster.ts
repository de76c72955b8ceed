/**
 * SIPClusters: which hosts a tenant's cluster wants, and which services stand before it.
 *
 * The schemas in `schema/` are built from these types: the compiler refuses a field that only one side has.
 * @module
 */
import type { Kind, KubeObject } from "../../../kube/kinds/resource.ts";
import type { Condition } from "../../kinds/conditions.ts";

/** The roles of hosts, as the labels and old tooling write them. */
export const ROLES = ["ControlPlane", "Worker"] as const;
/** The role of a host. */
export type Role = (typeof ROLES)[number];

/** One demand of a {@linkcode LabelSelector}. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Which objects have these labels, as in Kubernetes. Empty: every object. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** How many hosts a role wants. Absent counts as 0. */
export interface HostCount {
  readonly active?: number;
  readonly standby?: number;
}

/** The hosts that a role wants. */
export interface NodeSet {
  readonly labelSelector?: LabelSelector;
  /**
   * A label of hosts. Two hosts of the role never have the same value of it. A host without the label has no limit.
   * Empty counts as absent.
   */
  readonly topologyKey?: string;
  /** The same for several labels at once, in addition to `topologyKey`. @default {[]} */
  readonly topologyKeys?: readonly string[];
  readonly count?: HostCount;
}

/** How hosts are chosen and given back. */
export interface Scheduling {
  /** Whether anti-affinity holds between roles, too. @default {false} */
  readonly spreadAcrossRoles?: boolean;
  /** Whether hosts with a consumer may be given back. @default {false} */
  readonly releaseConsumedHosts?: boolean;
}

/** What every service has. */
interface ServiceFields {
  /** Container image. Empty counts as absent. @default {depends on the service; a jump host has none} */
  readonly image?: string;
  /** ID of the network in the hosts' network data from which their addresses are taken, such as `oam-ipv4`. */
  readonly nodeInterfaceId?: string;
  /** Labels of the Nodes on which the Pods run. @default {any Node} */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** `spec.clusterIP` of the Service. Empty counts as absent. @default {Kubernetes chooses} */
  readonly clusterIP?: string;
}

/** The first and the last port, both included. */
export interface PortRange {
  readonly start: number;
  readonly end: number;
}

/** A load balancer for the API servers of the cluster. */
export interface LoadBalancerControlPlane extends ServiceFields {
  readonly nodeInterfaceId: string;
  /** 0: Kubernetes chooses. So with every `nodePort`. */
  readonly nodePort: number;
}
/** A load balancer for what the workers serve. */
export interface LoadBalancerWorker extends ServiceFields {
  readonly nodeInterfaceId: string;
  /** Of old manifests. Every port of the range is used; another one has no effect. */
  readonly nodePort?: number;
  readonly nodePortRange: PortRange;
}
/** A host for ssh to the hosts of the cluster. */
export interface JumpHost extends ServiceFields {
  readonly image: string;
  readonly nodeInterfaceId: string;
  readonly nodePort: number;
  /** Name of a Secret in the SIPCluster's namespace: each key is a file with a private key. */
  readonly nodeSSHPrivateKeys: string;
  readonly sshAuthorizedKeys?: readonly string[];
  readonly bmc?: { readonly proxy?: boolean };
}
/** An OIDC provider. It has `configSecret`, `issuerURL` and `tlsSecret`, or, in old manifests, `caSecret`. */
export interface Auth extends ServiceFields {
  readonly nodePort: number;
  /** Begins with `https://`. */
  readonly issuerURL?: string;
  /** ID of the tenant's API servers among the clients of the configuration. @default {kubernetes} */
  readonly clientID?: string;
  /** Name of a Secret with Dex's configuration, key `config.yaml`. */
  readonly configSecret?: string;
  /** Name of a Secret of type kubernetes.io/tls. */
  readonly tlsSecret?: string;
  /** The field of old manifests: a Secret with the CA. */
  readonly caSecret?: string;
}

/** The services by kind. Each list may have several entries. */
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

/** How many hosts a role has. */
export interface RoleCounts {
  /** Active and standby hosts that the spec wants. */
  readonly wanted: number;
  /** Hosts with the labels of the cluster. */
  readonly active: number;
  readonly standby: number;
  /** `have/want`, for `kubectl get`. A broken host that waits for its replacement does not count. */
  readonly summary: string;
}

/** A host of the cluster. */
export interface HostStatus {
  /** UID of the BareMetalHost. Absent: an earlier version wrote it, and it counts only as a hint. */
  readonly uid?: string;
  readonly namespace: string;
  readonly name: string;
  readonly role: Role;
  readonly standby: boolean;
  readonly addresses: readonly string[];
  /** The same by the ID of the network: after a restart, they count while network data cannot be read. */
  readonly networks?: Readonly<Record<string, string>>;
  /** Its labels are being written or removed: until that is over, it belongs to the cluster if they say so. */
  readonly pending?: boolean;
  /** Since when it is in error, or since when another host of its role was replaced for an error, if that is later. */
  readonly errorSince?: string;
}

/** Where clients reach a service. */
export interface Endpoint {
  /** `loadBalancerControlPlane`, `jumpHost[1]`. */
  readonly service: string;
  readonly nodePort: number;
}

/** What a cluster has. */
export interface SipClusterStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly counts?: Readonly<Partial<Record<Role, RoleCounts>>>;
  /** All hosts of the cluster: the record of which it has. In the order of their keys. Absent: it never had one. */
  readonly hosts?: readonly HostStatus[];
  readonly endpoints?: readonly Endpoint[];
}

/** How many hosts a cluster may have: the status lists all, and an object has a limited size. */
export const HOSTS_MAX = 8_000;
/** Of how many hosts a status has the addresses. */
export const ADDRESSES_LISTED_MAX = 1_000;

/** A cluster of a tenant. */
export interface SipCluster extends KubeObject {
  readonly spec?: SipClusterSpec;
  readonly status?: SipClusterStatus;
}

/** SIPClusters. The store keeps their finalizers, and their generation for conditions. */
export const SIP_CLUSTERS: Kind<SipCluster> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "SIPCluster",
  plural: "sipclusters",
  namespaced: true,
  isAlwaysWhole: true,
  metadata: ["finalizers", "generation"],
};
