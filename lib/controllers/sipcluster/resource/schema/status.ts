/**
 * The schema of `status`: an API server drops what a CRD does not name.
 * @module
 */
import type { Endpoint, HostStatus, RoleCounts, SipClusterStatus } from "../sip_cluster.ts";
import { ADDRESSES_LISTED_MAX, HOSTS_MAX, ROLES } from "../sip_cluster.ts";
import {
  conditions,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  required,
  type Schema,
  STATUS_NUMBER,
  STATUS_TEXT,
  trueOrFalse,
} from "../../../kinds/parts.ts";

const COUNTS = object<RoleCounts>({
  wanted: required(STATUS_NUMBER, "Active and standby hosts that the spec wants."),
  active: required(STATUS_NUMBER, "Active hosts of the cluster."),
  standby: required(STATUS_NUMBER, "Standby hosts of the cluster."),
  summary: required(STATUS_TEXT, "Hosts of the cluster, and hosts that it wants."),
});

const HOST = object<HostStatus>({
  uid: optional(STATUS_TEXT, "UID of the BareMetalHost."),
  namespace: required(STATUS_TEXT, "Namespace of the BareMetalHost."),
  name: required(STATUS_TEXT, "Name of the BareMetalHost."),
  role: required(oneOf(ROLES), "What the host is for."),
  standby: required(trueOrFalse(), "Whether it is a spare host."),
  addresses: required(
    list(STATUS_TEXT, 64),
    "Its static addresses on the networks of the services.",
  ),
  networks: optional(
    mapOf(STATUS_TEXT, 64),
    "The same by the ID of the network. They count while its network data cannot be read.",
  ),
  pending: optional(
    trueOrFalse(),
    "Whether Landfall is writing or removing the labels of the host. It belongs to the cluster while they say so.",
  ),
  errorSince: optional(
    STATUS_TEXT,
    "Since when the host is in error, or since when another host of its role was replaced for an error. Landfall " +
      "replaces it when --sip-host-error-grace is over, if nothing uses it.",
  ),
});

const ENDPOINT = object<Endpoint>({
  service: required(STATUS_TEXT, "The service in the spec."),
  nodePort: required(STATUS_NUMBER, "Its port on the Nodes of this cluster."),
});

/** The schema of `status`. */
export const STATUS: Schema<SipClusterStatus> = object<SipClusterStatus>({
  observedGeneration: optional(
    STATUS_NUMBER,
    "The generation of the spec that this status is about.",
  ),
  conditions: optional(
    conditions("Ready, Scheduled, ServicesReady, ContractionBlocked or UnknownClaims"),
    "What the cluster has, and what it waits for.",
  ),
  counts: optional(
    object<NonNullable<SipClusterStatus["counts"]>>({
      ControlPlane: optional(COUNTS, "Hosts for the control plane."),
      Worker: optional(COUNTS, "Hosts for workers."),
    }),
    "How many hosts the cluster has.",
  ),
  hosts: optional(
    list(HOST, HOSTS_MAX),
    "The hosts of the cluster, sorted: the record of which hosts it has. Landfall writes their labels from it. The " +
      `addresses are those of the first ${ADDRESSES_LISTED_MAX} hosts.`,
  ),
  endpoints: optional(list(ENDPOINT, 4096), "Where clients reach the services."),
});
