/**
 * BareMetalHosts of metal3, reduced to the fields that controllers read.
 * @module
 */
import { OWN_PREFIX } from "../../core/text/label.ts";
import { cutText, isText, type Kind, type KubeObject, pick } from "./resource.ts";

/** Names a Secret. */
interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** Names the object that uses a host, such as a Metal3Machine. */
export interface ConsumerReference {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** A BareMetalHost, reduced to the fields that Landfall reads. */
export interface BareMetalHost extends KubeObject {
  readonly spec?: {
    readonly networkData?: SecretReference;
    /** Name of the Secret with the network data that holds until `networkData` is set. */
    readonly preprovisioningNetworkDataName?: string;
    readonly consumerRef?: ConsumerReference;
    /** What the operator installs, or has installed. Without a URL: nothing. */
    readonly image?: { readonly url?: string };
    /** Another way to install. */
    readonly customDeploy?: { readonly method?: string };
    /** Whether another program provisioned it. */
    readonly externallyProvisioned?: boolean;
    /** Its management controller. The store keeps the address only for hosts with {@linkcode VINO_UID}. */
    readonly bmc?: { readonly address?: string; readonly credentialsName?: string };
    /** The store keeps it only for hosts with {@linkcode VINO_UID}. */
    readonly bootMACAddress?: string;
  };
  readonly status?: {
    readonly provisioning?: { readonly state?: string };
    /** `OK`, `discovered`, `error`, `delayed`, `detached`. */
    readonly operationalStatus?: string;
    /** Whether it is empty counts; the store keeps its beginning. */
    readonly errorMessage?: string;
  };
}

/** Annotation: the operator of the host does nothing with it, for example while Cluster API moves it. */
export const PAUSED = "baremetalhost.metal3.io/paused";
/** Annotation of Cluster API: nothing may change the object, for example while it is moved. */
export const CLUSTER_API_PAUSED = "cluster.x-k8s.io/paused";
/** Annotation: `clusterctl move` deletes the object here a moment later, because another cluster has it now. */
export const LEAVES_CLUSTER = "clusterctl.cluster.x-k8s.io/delete-for-move";
/** Annotation: the operator does not manage the host. */
export const DETACHED = "baremetalhost.metal3.io/detached";
/** Annotations of Cluster API: a machine on the host failed. The second is the old form. */
export const UNHEALTHY = ["capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy"] as const;
/** Label of Cluster API: a host without consumer that waits for the next machine of the same set. */
export const NODE_REUSE = "infrastructure.cluster.x-k8s.io/node-reuse";
/** Annotation: what the operator takes as the result of an inspection. It removes it once it has read it. */
export const HARDWARE_DETAILS = "inspect.metal3.io/hardwaredetails";
/** Annotation: the operator restarts the host, and then removes this. */
export const REBOOT = "reboot.metal3.io";

/**
 * Label of a host that Landfall made for a machine: the UID of the Vino. MUST NOT CHANGE: it says whose the host is.
 */
export const VINO_UID: string = `${OWN_PREFIX}vino-uid`;

const ANNOTATIONS: ReadonlySet<string> = new Set([
  PAUSED,
  CLUSTER_API_PAUSED,
  LEAVES_CLUSTER,
  DETACHED,
  ...UNHEALTHY,
  REBOOT,
]);
/** An error of the hardware may quote a whole page of a management controller. */
const ERROR_CHARS_MAX = 120;

const SOME_BMC = Object.freeze({});

const REFERENCE_SHAPES = { kind: isText, name: isText, namespace: isText };

/** BareMetalHosts. */
export const BARE_METAL_HOSTS: Kind<BareMetalHost> = {
  apiVersion: "metal3.io/v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
  crdUrl:
    "https://raw.githubusercontent.com/metal3-io/baremetal-operator/v0.13.2/config/base/crds/bases/" +
    "metal3.io_baremetalhosts.yaml",
  metadata: ["generation"],
  keepsAnnotation: (key, labels) =>
    ANNOTATIONS.has(key) ||
    key.startsWith(OWN_PREFIX) ||
    // That of real hardware is large.
    (key === HARDWARE_DETAILS && VINO_UID in labels),
  keep: ({ metadata, spec, status }) => ({
    spec: keepSpec(spec ?? {}, metadata.labels?.[VINO_UID] !== undefined),
    status: keepStatus(status ?? {}),
  }),
  shapes: {
    spec: {
      networkData: REFERENCE_SHAPES,
      preprovisioningNetworkDataName: isText,
      consumerRef: REFERENCE_SHAPES,
      image: { url: isText },
      customDeploy: { method: isText },
      bmc: { address: isText, credentialsName: isText },
      bootMACAddress: isText,
    },
    status: {
      provisioning: { state: isText },
      operationalStatus: isText,
      errorMessage: isText,
    },
  },
};

function keepSpec(
  spec: NonNullable<BareMetalHost["spec"]>,
  isOfVino: boolean,
): BareMetalHost["spec"] & object {
  const { networkData, preprovisioningNetworkDataName, consumerRef, bmc } = spec;
  const { image, customDeploy, bootMACAddress, externallyProvisioned } = spec;
  // As metal3 judges it.
  const hasBmc = Boolean(bmc?.address || bmc?.credentialsName);
  return {
    // A field without a value may be null.
    ...(networkData && { networkData: pick(networkData, ["name", "namespace"]) }),
    ...(preprovisioningNetworkDataName && { preprovisioningNetworkDataName }),
    ...(consumerRef && { consumerRef: pick(consumerRef, ["kind", "name", "namespace"]) }),
    ...(image?.url && { image: pick(image, ["url"]) }),
    ...(customDeploy?.method && { customDeploy: pick(customDeploy, ["method"]) }),
    ...(externallyProvisioned === true && { externallyProvisioned }),
    ...(hasBmc && { bmc: isOfVino && bmc ? pick(bmc, ["address"]) : SOME_BMC }),
    ...(isOfVino && bootMACAddress && { bootMACAddress }),
  };
}

function keepStatus(
  status: NonNullable<BareMetalHost["status"]>,
): BareMetalHost["status"] & object {
  const { provisioning, operationalStatus, errorMessage } = status;
  return {
    ...(provisioning?.state && { provisioning: { state: provisioning.state } }),
    ...(operationalStatus && { operationalStatus }),
    ...(errorMessage && { errorMessage: cutText(errorMessage, ERROR_CHARS_MAX) }),
  };
}
