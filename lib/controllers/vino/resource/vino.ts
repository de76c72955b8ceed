/**
 * Vinos: which virtual machines are made, and published as hosts that clusters are installed on.
 *
 * The schemas in `schema/` are built from these types: the compiler refuses a field that only one side has.
 * @module
 */
import type { Kind, KubeObject } from "../../../kube/kinds/resource.ts";
import type { Condition } from "../../kinds/conditions.ts";

/** A route of a network. */
export interface VinoRoute {
  /** An address: `198.51.100.0`. */
  readonly network: string;
  /** In the form of an address: `255.255.255.0`. */
  readonly netmask: string;
  /** An address, or {@linkcode BRIDGE_GATEWAY}. */
  readonly gateway: string;
}

/** The gateway of old manifests: the bridge of the physical host. There is none here. */
export const BRIDGE_GATEWAY = "$vinobridge";

/** A network that machines are connected to. */
export interface VinoNetwork {
  readonly name: string;
  /** In CIDR form; bits of hosts may be set: `192.0.2.0/24`, `2001:db8::/64`. */
  readonly subnet?: string;
  /** `ipv4`, `ipv6`. */
  readonly type?: string;
  /** The first and the last address that machines get, both in the subnet. Both absent: machines get none. */
  readonly staticAllocationStart?: string;
  readonly staticAllocationStop?: string;
  readonly dhcpAllocationStart?: string;
  readonly dhcpAllocationStop?: string;
  readonly instanceSubnetBitStep?: number;
  readonly dns_servers?: readonly string[];
  readonly routes?: readonly VinoRoute[];
  /** Six pairs of hexadecimal digits with colons. */
  readonly macPrefix?: string;
  readonly physicalInterface?: string;
  readonly libvirtTemplate?: string;
  readonly bridgeName?: string;
}

/** A network interface of the machines of a role. */
export interface VinoInterface {
  readonly name: string;
  readonly type?: string;
  /** Name of one of `spec.networks`. */
  readonly network: string;
  /** In bytes. @default {that of the network} */
  readonly mtu?: number;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Names an object in a namespace. */
export interface NamespacedName {
  readonly name?: string;
  readonly namespace?: string;
}

/** A disk of old manifests. */
export interface DiskDrive {
  readonly name?: string;
  readonly type?: string;
  readonly path?: string;
  readonly options?: { readonly sizeGb?: number; readonly sparse?: boolean };
}

/** A disk of a machine. */
export interface VinoDisk {
  readonly name: string;
  /** As Kubernetes writes quantities: `40Gi`. */
  readonly size: string;
  /** ID or name of the storage repository. @default {that of the template's disk, or the default one of the pool} */
  readonly sr?: string;
}

/** Which hosts of the cloud machines start on: those that any of the lists names. */
export interface VinoHosts {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
  /** A host has one of them. */
  readonly tags?: readonly string[];
}

/** Whether `count` is for each host, or for all hosts together. */
export const COUNT_PER = ["Host", "Total"] as const;
/** Whether machines start from the disks of their template, or try the network first, with blank disks. */
export const BOOTS = ["Template", "Network"] as const;
/** What becomes of machines that are not wanted any more. */
export const DELETION_POLICIES = ["Retain", "Delete"] as const;
/** What becomes the failure domain of hosts for Cluster API. */
export const FAILURE_DOMAINS = ["None", "Host", "Pool"] as const;

/** What machines are like. */
export interface MachineForm {
  /** ID or name of the template. */
  readonly template?: string;
  readonly cpus?: number;
  /** As Kubernetes writes quantities: `8Gi`. */
  readonly memory?: string;
  /** The first ones are those of the template, in their order; the others are made. */
  readonly disks?: readonly VinoDisk[];
  /** @default {Host} */
  readonly countPer?: (typeof COUNT_PER)[number];
  /** @default {Template} */
  readonly boot?: (typeof BOOTS)[number];
  /** A Secret in the Vino's namespace with user data for cloud-init. */
  readonly userDataSecret?: SecretKey;
  /** @default {all hosts of the pool} */
  readonly hosts?: VinoHosts;
}

/** A key of a Secret. */
export interface SecretKey {
  readonly name: string;
  /** @default {userData} */
  readonly key?: string;
}

/** The virtual machines in Xen Orchestra. */
export interface XenOrchestraBlock extends MachineForm {
  /** ID or name. @default {the only pool there is} */
  readonly pool?: string;
  /** By the name in `spec.networks`: ID or name in Xen Orchestra. @default {the same name} */
  readonly networks?: Readonly<Record<string, string>>;
  /** @default {Retain} */
  readonly deletionPolicy?: (typeof DELETION_POLICIES)[number];
  /** @default {None} */
  readonly failureDomain?: (typeof FAILURE_DOMAINS)[number];
}

/** The first disk, as the driver of Xen names it. metal3 would take `/dev/sda`, which no VM of XCP-ng has. */
export const ROOT_DEVICE_NAME = "/dev/xvda";

/** Machines of one role. */
export interface VinoNode {
  /** The role. A part of the names of machines. */
  readonly name: string;
  /** @default {0} */
  readonly count?: number;
  readonly bmhLabels?: Readonly<Record<string, string>>;
  readonly networkDataTemplate?: NamespacedName;
  readonly networkInterfaces?: readonly VinoInterface[];
  /** @default {ROOT_DEVICE_NAME} */
  readonly rootDeviceName?: string;
  /** Name of one of the interfaces. */
  readonly bootInterfaceName?: string;
  readonly enableVNC?: boolean;
  readonly libvirtTemplate?: string;
  readonly diskDrives?: readonly DiskDrive[];
  /** Instead of what `spec.xenOrchestra` says. */
  readonly xenOrchestra?: MachineForm;
}

/** What the management controllers of hosts accept: a Secret, or in old manifests both texts. */
export interface BmcCredentials {
  readonly username?: string;
  readonly password?: string;
  /** A Secret in the Vino's namespace with the keys `username` and `password`. */
  readonly secretRef?: { readonly name: string };
}

/** What a Vino wants. */
export interface VinoSpec {
  readonly nodeSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly configuration?: { readonly cpuExclude?: string };
  readonly networks?: readonly VinoNetwork[];
  readonly nodes?: readonly VinoNode[];
  readonly daemonSetOptions?: {
    readonly namespacedName?: NamespacedName;
    readonly libvirtImage?: string;
    readonly sushyImage?: string;
    readonly vinoBuilderImage?: string;
    readonly nodeAnnotatorImage?: string;
  };
  readonly bmcCredentials?: BmcCredentials;
  /** Keys of tags of hosts in the cloud, `key=value`, that become labels of the hosts in Kubernetes. */
  readonly nodeLabelKeysToCopy?: readonly string[];
  readonly pxeBootImageHost?: string;
  readonly pxeBootImageHostPort?: number;
  readonly xenOrchestra?: XenOrchestraBlock;
}

/** How many machines there are. */
export interface VinoCounts {
  readonly wanted: number;
  readonly machines: number;
  readonly ready: number;
  /** Those that exist or may exist although the spec does not want them. A status of an earlier build lacks it. */
  readonly unwanted?: number;
  /** BareMetalHosts that exist, also those of machines that the spec does not want. */
  readonly published: number;
  /** `ready/wanted`, for `kubectl get`. */
  readonly summary: string;
}

/** What a Vino has. */
export interface VinoStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly counts?: VinoCounts;
  /** Machines that were removed a short time ago; at most {@linkcode MACHINES_MAX}. */
  readonly removals?: readonly VinoRemoval[];
}

/** A machine that Landfall removed. */
export interface VinoRemoval {
  /** In the cloud. */
  readonly name: string;
  /** RFC 3339, UTC. */
  readonly time: string;
}

/** More machines of one Vino are a typing error: each reconcile looks at all of them. */
export const MACHINES_MAX = 5000;

/** A set of machines. */
export interface Vino extends KubeObject {
  readonly spec?: VinoSpec;
  readonly status?: VinoStatus;
}

/** Vinos. The store keeps their finalizers, and their generation for conditions. */
export const VINOES: Kind<Vino> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "Vino",
  plural: "vinoes",
  namespaced: true,
  isAlwaysWhole: true,
  metadata: ["finalizers", "generation"],
};
