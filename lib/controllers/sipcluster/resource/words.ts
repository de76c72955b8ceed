/**
 * The conditions of SIPClusters and their reasons. The words never change. `Ready` and its reasons are those of the
 * original operator.
 * @module
 */
import { no, type ReasonWord, yes } from "../../kinds/words.ts";

/** The types of conditions, in their order. */
export type ConditionType =
  | "Ready"
  | "Scheduled"
  | "ServicesReady"
  | "ContractionBlocked"
  | "UnknownClaims"
  | "UnsupportedFields";

/** The reasons of all conditions, by a name for code, in the order of the reference page. */
type ConditionWords = {
  readonly Ready: Readonly<
    Record<
      | "done"
      | "invalid"
      | "unschedulable"
      | "labels"
      | "hostNamespaces"
      | "networkData"
      | "services"
      | "waiting"
      | "inUse",
      ReasonWord
    >
  >;
  readonly Scheduled: Readonly<
    Record<
      | "done"
      | "tooClose"
      | "invalid"
      | "unschedulable"
      | "labels"
      | "hostNamespaces"
      | "networkData"
      | "waiting",
      ReasonWord
    >
  >;
  readonly ServicesReady: Readonly<
    Record<
      | "done"
      | "lastKnownAddresses"
      | "addressConflict"
      | "certificateEnds"
      | "waiting"
      | "invalid"
      | "failed"
      | "template"
      | "unknownAddresses"
      | "nodePort"
      | "nameTaken"
      | "refused"
      | "forbidden"
      | "contested"
      | "deadline",
      ReasonWord
    >
  >;
  readonly ContractionBlocked: Readonly<Record<"inUse" | "free", ReasonWord>>;
  readonly UnknownClaims: Readonly<Record<"labels" | "none", ReasonWord>>;
  readonly UnsupportedFields: Readonly<Record<"some" | "none", ReasonWord>>;
};

const INVALID = "InvalidSpec";
const UNSCHEDULABLE = "Unschedulable";
const LABELS = "UnableToApplyLabels";
const HOST_NAMESPACES = no(
  "HostNamespaceNotAllowed",
  "SIP or an earlier Landfall served the cluster, and --sip-host-namespaces does not allow the namespace of its " +
    "hosts. Landfall changes nothing. The message names the hosts.",
);
const NETWORK_DATA = "UnableToReadNetworkData";
const PROGRESSING = "Progressing";
/** Reason of a service that cannot be made as the spec asks. */
export const SERVICE_FAILURE = "InfraServiceFailure";

/** All conditions. */
export const CONDITION_WORDS: ConditionWords = {
  Ready: {
    done: yes(
      "ReconciliationSucceeded",
      "The cluster has all hosts, and all its services are available.",
    ),
    invalid: no(
      INVALID,
      "Landfall cannot use the spec. The message names each field. Nothing is changed.",
    ),
    unschedulable: no(
      UNSCHEDULABLE,
      "There are not enough hosts. The message has the numbers of each role.",
    ),
    labels: no(
      LABELS,
      "The API server refuses a change of a host's labels, or fails again and again. The message says why. Landfall " +
        "tries again.",
    ),
    hostNamespaces: HOST_NAMESPACES,
    networkData: no(
      NETWORK_DATA,
      "The API server does not show the Secret with the network data of a host that the cluster has or needs. The " +
        "message says why. Landfall takes no host.",
    ),
    services: no(
      SERVICE_FAILURE,
      "A service cannot be made as the spec asks. The message of ServicesReady says why.",
    ),
    waiting: no(
      PROGRESSING,
      "Hosts get their labels, Pods of services start, or the cluster is being deleted.",
    ),
    inUse: no(
      "UnableToDecommission",
      "The SIPCluster is being deleted, and something stops that: mostly hosts in use, whose services stay as long. " +
        "The message names it.",
    ),
  },
  Scheduled: {
    done: yes("HostsLabelled", "Each role has all hosts that it wants."),
    tooClose: yes(
      "AntiAffinityBroken",
      "The same, but hosts of the cluster have the same value of a topology key: their labels changed later. " +
        "Landfall keeps them. The message names them.",
    ),
    invalid: no(INVALID, "Landfall cannot use the spec. The message names each field."),
    unschedulable: no(
      UNSCHEDULABLE,
      "There are not enough hosts. The message has the numbers of each role, and why hosts were rejected.",
    ),
    labels: no(
      LABELS,
      "The API server refuses a change of a host's labels, or fails again and again. The message says why. Landfall " +
        "tries again.",
    ),
    hostNamespaces: HOST_NAMESPACES,
    networkData: no(
      NETWORK_DATA,
      "The API server does not show the Secret with the network data of a host that the cluster has or needs. The " +
        "message says why. Landfall takes no host.",
    ),
    waiting: no(
      PROGRESSING,
      "Hosts are chosen, and get their labels. Or the cluster is being deleted, and takes none.",
    ),
  },
  ServicesReady: {
    done: yes(
      "ServicesAvailable",
      "All services of the spec are available. Also if the spec has none.",
    ),
    lastKnownAddresses: yes(
      "LastKnownAddresses",
      "The same, but network data of a host cannot be read now. Its last known addresses count. The message names it.",
    ),
    addressConflict: yes(
      "AddressConflict",
      "The same, but hosts of the cluster have the same address on a network: one of them answers for all. The " +
        "message names them.",
    ),
    certificateEnds: yes(
      "CertificateEnds",
      "The same, but the certificate of an OIDC provider ends within seven days. The message has the Secret and the " +
        "date.",
    ),
    waiting: no(
      PROGRESSING,
      "Pods of a service start. Or the cluster is being deleted, and its services go.",
    ),
    invalid: no(INVALID, "Landfall cannot use the spec. Services stay as they are."),
    unknownAddresses: no(
      "AddressesUnknown",
      "Network data of a host cannot be read, and its addresses were not known before. Landfall changes no service " +
        "that needs them. The message names the host and its Secret.",
    ),
    failed: no(
      SERVICE_FAILURE,
      "A service cannot be made from the spec, or from the ConfigMap with its template.",
    ),
    template: no(
      "TemplateTooLarge",
      "A template for HAProxy takes too much work, or gives too much text. The message has the ConfigMap, the key " +
        "and the line.",
    ),
    nodePort: no("NodePortUnavailable", "A node port is taken, or outside of the cluster's range."),
    nameTaken: no("NameTaken", "An object of the same name belongs to something else."),
    refused: no("ObjectRefused", "The API server refuses an object of a service."),
    forbidden: no(
      "Forbidden",
      "A right is missing, a quota is used up, or an admission plugin refuses an object.",
    ),
    contested: no("Contested", "Another program changes an object again after each correction."),
    deadline: no(
      "ProgressDeadlineExceeded",
      "Pods of a service do not become ready in time. Kubernetes says so, or another reason of the Deployment.",
    ),
  },
  ContractionBlocked: {
    inUse: yes(
      "HostsInUse",
      "The cluster has more hosts than it wants, and they are in use. Landfall keeps them, and names them.",
    ),
    free: no("NothingBlocked", "The cluster has no host that it does not want."),
  },
  UnknownClaims: {
    labels: yes(
      "LabelsWithoutRecord",
      "BareMetalHosts have the labels of the cluster, and are not in status.hosts. They do not count. Landfall " +
        "removes the labels where it may. The message names the hosts.",
    ),
    none: no("NoUnknownClaims", "No other host has the labels of the cluster."),
  },
  UnsupportedFields: {
    some: yes(
      "FieldsWithoutMeaning",
      "The spec has fields of old manifests that have no effect. The message names them.",
    ),
    none: no("AllFieldsUsed", "The spec has no such fields."),
  },
};
