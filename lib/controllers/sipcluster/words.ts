/**
 * Words of the SIPCluster controller in a cluster. Those of the original operator never change.
 * @module
 */

import { OWN_PREFIX } from "../../core/text/label.ts";
import type { EventWord } from "../../kube/events/words.ts";
import { HOST_CLUSTER_NAME } from "../words.ts";

/** Name in `--controllers`, logs and metrics. */
export const NAME = "sipcluster";
/** `source.component` of its Events, and the field manager of what it applies. */
export const COMPONENT = "landfall-sipcluster";

/** Labels of a BareMetalHost that belongs to a cluster. A host is taken if it has the name. */
export const CLUSTER_NAMESPACE = "sip.airshipit.org/cluster-namespace";
/** The name of the SIPCluster that has a host. */
export const CLUSTER_NAME: typeof HOST_CLUSTER_NAME = HOST_CLUSTER_NAME;
/** The role of a host. */
export const NODE_TYPE = "sip.airshipit.org/node-type";
/** Label of a standby host, `true`. The original operator did not tell standby hosts apart. */
export const STANDBY = "sip.airshipit.org/standby";

/** Label of hosts that metal3 does not install: SIPClusters may take them, although Cluster API cannot use them. */
export const WITHOUT_METAL3: string = `${OWN_PREFIX}without-metal3`;

/** The finalizer of the original operator, which its users write by hand. */
export const FINALIZER = "sip.airship.airshipit.org/finalizer";
/** Annotation `true` on a SIPCluster that is being deleted: also hosts with a consumer lose their labels. */
export const FORCE_RELEASE: string = `${OWN_PREFIX}force-release`;

/** Annotation of a BareMetalHost: the ID of the request for which a jump host had it rebooted last. */
export const REBOOT_REQUEST: string = `${OWN_PREFIX}reboot-request`;
/** Annotation of Pods: a hash of what they read once, at their start. They roll when it changes. */
export const CONFIG_HASH = "landfall.dev/config-hash";
/** Label of everything that Landfall makes for a SIPCluster: its name. */
export const SIP_CLUSTER_LABEL = "landfall.dev/sip-cluster";
/** Annotation of the same: the entry of `spec.services` that it belongs to, such as `jumpHost[1]`. */
export const SERVICE_ENTRY = "landfall.dev/sip-service";
/** Label of everything that the original operator made, and of everything that Landfall makes. */
export const PART_OF_SIP = { key: "app.kubernetes.io/part-of", value: "sip" } as const;

/** The Lease of the process that works on SIPClusters. */
export const LEASE = "landfall-sipcluster";

type EventName =
  | "hostTaken"
  | "hostReleased"
  | "hostLost"
  | "hostGone"
  | "hostsAdopted"
  | "unknownClaim"
  | "hostUnlabelled"
  | "unschedulable"
  | "contractionBlocked"
  | "invalidSpec"
  | "serviceFailed"
  | "networkDataMissing"
  | "addressConflict"
  | "ready"
  | "rebootRequested"
  | "rebootRefused"
  | "releaseBlocked";

/** The Events. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  hostTaken: {
    reason: "HostTaken",
    type: "Normal",
    meaning: "A BareMetalHost got the labels of the SIPCluster, or its standby label changed.",
  },
  hostReleased: {
    reason: "HostReleased",
    type: "Normal",
    meaning: "A BareMetalHost lost the labels of the SIPCluster. The message says why.",
  },
  hostLost: {
    reason: "HostLost",
    type: "Warning",
    meaning:
      "Another program gave a BareMetalHost to another cluster before Landfall could label it. Landfall chooses again.",
  },
  hostGone: {
    reason: "HostGone",
    type: "Warning",
    meaning: "A BareMetalHost of the SIPCluster was deleted.",
  },
  hostUnlabelled: {
    reason: "HostUnlabelled",
    type: "Warning",
    meaning:
      "A person or another program removed the labels of the SIPCluster from a BareMetalHost, or changed them. " +
      "Landfall writes them again.",
  },
  hostsAdopted: {
    reason: "HostsAdopted",
    type: "Normal",
    meaning:
      "The status of the SIPCluster had no record of BareMetalHosts with its labels. Landfall recorded those that it " +
      "may take, once. The message names them.",
  },
  unknownClaim: {
    reason: "UnknownClaim",
    type: "Warning",
    meaning:
      "On a BareMetalHost: it has the labels of a SIPCluster, and is not in its status.hosts. It does not count. " +
      "Landfall removes them, unless the host is in use, paused, or in a namespace that is not allowed.",
  },
  unschedulable: {
    reason: "Unschedulable",
    type: "Warning",
    meaning:
      "There are not enough BareMetalHosts. Landfall takes none until there are enough for every role.",
  },
  contractionBlocked: {
    reason: "ContractionBlocked",
    type: "Warning",
    meaning:
      "Landfall keeps BareMetalHosts that the SIPCluster does not want, because they are in use.",
  },
  invalidSpec: {
    reason: "InvalidSpec",
    type: "Warning",
    meaning: "Landfall cannot use the spec. The message names each field. Nothing is changed.",
  },
  serviceFailed: {
    reason: "InfraServiceFailure",
    type: "Warning",
    meaning: "A service could not be made as the spec asks. Landfall tries again.",
  },
  networkDataMissing: {
    reason: "NetworkDataMissing",
    type: "Warning",
    meaning:
      "Network data of a BareMetalHost of the SIPCluster is missing or cannot be right. The message names the host.",
  },
  addressConflict: {
    reason: "AddressConflict",
    type: "Warning",
    meaning:
      "BareMetalHosts of the SIPCluster have the same address on a network, and no other host was free. The message " +
      "names them.",
  },
  ready: {
    reason: "ReconciliationSucceeded",
    type: "Normal",
    meaning: "The SIPCluster has all hosts, and all its services are available.",
  },
  rebootRequested: {
    reason: "RebootRequested",
    type: "Normal",
    meaning: "A user of a jump host had a BareMetalHost of the SIPCluster rebooted.",
  },
  rebootRefused: {
    reason: "RebootRefused",
    type: "Warning",
    meaning:
      "A user of a jump host asked for a reboot, and Landfall refused. The message says why.",
  },
  releaseBlocked: {
    reason: "UnableToDecommission",
    type: "Warning",
    meaning:
      "The SIPCluster is being deleted, and BareMetalHosts are still in use. Landfall waits until nothing uses them.",
  },
};
