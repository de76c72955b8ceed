/**
 * The schema of `status`: an API server drops what a CRD does not name.
 * @module
 */
import * as v from "valibot";
import type {
  Condition,
  Endpoint,
  HostStatus,
  RoleCounts,
  SipClusterStatus,
} from "../sip_cluster.ts";
import { HOSTS_LISTED_MAX, ROLES } from "../sip_cluster.ts";
import { list, object, oneOf, optional, required, type Schema, trueOrFalse } from "./parts.ts";

const TEXT = v.string();
const NUMBER: Schema<number> = v.pipe(v.number(), v.integer(), v.metadata({ format: "int64" }));

const CONDITION = object<Condition>({
  type: required(TEXT, "Ready, Scheduled, ServicesReady or ContractionBlocked."),
  status: required(oneOf(["True", "False", "Unknown"]), "Whether the condition holds."),
  reason: required(TEXT, "Why, in one word."),
  message: required(TEXT, "Why, in a sentence."),
  lastTransitionTime: required(
    v.pipe(TEXT, v.metadata({ format: "date-time" })),
    "When the status of the condition last changed.",
  ),
  observedGeneration: optional(NUMBER, "The generation of the spec that the condition is about."),
});

const COUNTS = object<RoleCounts>({
  wanted: required(NUMBER, "Active and standby hosts that the spec wants."),
  active: required(NUMBER, "Active hosts with the labels of the cluster."),
  standby: required(NUMBER, "Standby hosts with the labels of the cluster."),
  summary: required(TEXT, "Hosts with the labels of the cluster, and hosts that it wants."),
});

const HOST = object<HostStatus>({
  namespace: required(TEXT, "Namespace of the BareMetalHost."),
  name: required(TEXT, "Name of the BareMetalHost."),
  role: required(oneOf(ROLES), "What the host is for."),
  standby: required(trueOrFalse(), "Whether it is a spare host."),
  addresses: required(list(TEXT, 64), "Its static addresses on the networks of the services."),
});

const ENDPOINT = object<Endpoint>({
  service: required(TEXT, "The service in the spec."),
  nodePort: required(NUMBER, "Its port on the Nodes of this cluster."),
});

/** The schema of `status`. */
export const STATUS: Schema<SipClusterStatus> = object<SipClusterStatus>({
  observedGeneration: optional(NUMBER, "The generation of the spec that this status is about."),
  conditions: optional(
    v.pipe(
      list(CONDITION, 16),
      v.metadata({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    ),
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
