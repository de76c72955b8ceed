/**
 * What labels, specs and states of hosts say to a judge, read without the controller's own code.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../lib/simulator/kubernetes/patches/json.ts";
import { HOST_LABELS } from "../../../lib/simulator/metal3/hosts.ts";
import {
  annotationsOf,
  consumerOf,
  isLeaving,
  isPaused,
  stateOf,
} from "../../../lib/simulator/metal3/host_state.ts";

/** Labels that the controller writes. */
export const LABELS = {
  namespace: "sip.airshipit.org/cluster-namespace",
  name: "sip.airshipit.org/cluster-name",
  role: "sip.airshipit.org/node-type",
  standby: "sip.airshipit.org/standby",
} as const;

export const ROLES = ["ControlPlane", "Worker"] as const;
export type Role = (typeof ROLES)[number];

/** Which hosts a role selects. */
export const FLAVORS: Readonly<Record<Role, string>> = {
  ControlPlane: "control-plane",
  Worker: "worker",
};

/** A label, `""` if the host lacks it. */
export function labelOf({ metadata }: ApiObject, key: string): string {
  return stringAt(objectAt(metadata, "labels"), key);
}

/** `namespace/name` of the cluster that has a host; `""` if none does. */
export function clusterOf(host: ApiObject): string {
  const name = labelOf(host, LABELS.name);
  return name === "" ? "" : `${labelOf(host, LABELS.namespace)}/${name}`;
}

/** What the status of a cluster says of a host; absent if it does not name it. */
export function findRecord(cluster: ApiObject, { metadata }: ApiObject): JsonObject | undefined {
  const { hosts } = objectAt(cluster, "status");
  const all = isArray(hosts) ? hosts.filter(isObject) : [];
  return all.find((one) => one["uid"] === metadata["uid"]);
}

/** The role for which the status of a cluster records a host whose labels are written. */
export function findRole(cluster: ApiObject, host: ApiObject): Role | undefined {
  if (!isRecorded(cluster, host)) return undefined;
  return ROLES.find((role) => role === findRecord(cluster, host)?.["role"]);
}

/** Whether the status of a cluster records a host whose labels are written. */
export function isRecorded(cluster: ApiObject, host: ApiObject): boolean {
  const record = findRecord(cluster, host);
  return record !== undefined && record["pending"] !== true;
}

/** What is wrong with a host, whoever has it; `""` if nothing is. */
export function troubleOf(host: ApiObject): string {
  if (isLeaving(host)) return "deleting";
  if (isPaused(host)) return "paused";
  if ("capm3.metal3.io/unhealthy" in annotationsOf(host)) return "unhealthy";
  return isBroken(host) ? "in error" : "";
}

/** Whether metal3 reports an error of a host. */
export function isBroken(host: ApiObject): boolean {
  return stringAt(objectAt(host, "status"), "errorMessage") !== "";
}

/** Whether a cluster may take a host now. */
export function isFree(host: ApiObject): boolean {
  if (clusterOf(host) !== "" || consumerOf(host) !== undefined) return false;
  return troubleOf(host) === "" && stateOf(host) === "available";
}

/** Whether a host may not be given back. */
export function isUsed(host: ApiObject): boolean {
  const states = ["provisioning", "provisioned", "deprovisioning"];
  return consumerOf(host) !== undefined || states.includes(stateOf(host));
}

/** The rack of a host. */
export function rackOf(host: ApiObject): string {
  return labelOf(host, HOST_LABELS.rack);
}

/** What a cluster wants of a role. */
interface Wish {
  readonly count: number;
  /** Whether no two hosts of the role may be in one rack. */
  readonly isSpread: boolean;
}

/** Reads a role of the spec of a SIPCluster. */
export function readWish(cluster: ApiObject, role: Role): Wish {
  const set = objectAt(objectAt(objectAt(cluster, "spec"), "nodes"), role);
  const { active = 0, standby = 0 } = objectAt(set, "count");
  return {
    count: Number(active) + Number(standby),
    isSpread: stringAt(set, "topologyKey") === HOST_LABELS.rack,
  };
}

/** A condition of a SIPCluster as `status reason`; `""` without one for its newest spec. */
export function readCondition(cluster: ApiObject, type: string): string {
  const found = findCondition(cluster, type);
  return found === undefined ? "" : `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
}

/** The message of a condition of a SIPCluster; `""` without one for its newest spec. */
export function readMessage(cluster: ApiObject, type: string): string {
  return stringAt(findCondition(cluster, type) ?? {}, "message");
}

function findCondition(cluster: ApiObject, type: string): JsonObject | undefined {
  const { conditions } = objectAt(cluster, "status");
  return (isArray(conditions) ? conditions.filter(isObject) : []).find(
    (one) =>
      stringAt(one, "type") === type &&
      one["observedGeneration"] === cluster.metadata["generation"],
  );
}

/** Whether hosts of a cluster may be given back while something uses them. */
export function mayTakeUsed(cluster: ApiObject): boolean {
  const { releaseConsumedHosts } = objectAt(objectAt(cluster, "spec"), "scheduling");
  const force = objectAt(cluster.metadata, "annotations")["sip.airshipit.org/force-release"];
  return releaseConsumedHosts === true || force === "true";
}
