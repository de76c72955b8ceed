/**
 * The schema of `status`: an API server drops what a CRD does not name.
 * @module
 */
import type { Endpoint, HostStatus, RoleCounts, SipClusterStatus } from "../sip_cluster.ts";
import { HOSTS_LISTED_MAX, ROLES } from "../sip_cluster.ts";
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
  active: required(STATUS_NUMBER, "Active hosts with the labels of the cluster."),
  standby: required(STATUS_NUMBER, "Standby hosts with the labels of the cluster."),
  summary: required(STATUS_TEXT, "Hosts with the labels of the cluster, and hosts that it wants."),
});

const HOST = object<HostStatus>({
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
    conditions("Ready, Scheduled, ServicesReady or ContractionBlocked"),
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
    list(HOST, HOSTS_LISTED_MAX),
    `The hosts of the cluster, sorted, at most ${HOSTS_LISTED_MAX} of them.`,
  ),
  endpoints: optional(list(ENDPOINT, 4096), "Where clients reach the services."),
});
