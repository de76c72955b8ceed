/**
 * What must be true of SIPClusters once nothing more goes wrong.
 * @module
 */
import { Buffer } from "node:buffer";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../lib/simulator/kubernetes/patches/json.ts";
import {
  clusterOf,
  findRecord,
  FLAVORS,
  isFree,
  isRecorded,
  isUsed,
  LABELS,
  labelOf,
  rackOf,
  readCondition,
  readWish,
  type Role,
  ROLES,
} from "./hosts.ts";
import { keyOf } from "./judge.ts";
import { RIVAL } from "./steps.ts";
import { NAMES, type SipWorld, TENANTS } from "./world.ts";
import { HOST_LABELS } from "../../../lib/simulator/metal3/hosts.ts";
import { consumerOf, isLeaving, isPaused } from "../../../lib/simulator/metal3/host_state.ts";

const READY = "True ReconciliationSucceeded";

/** What is not true yet, in sentences; empty when all is right. */
export function listUntrue(world: SipWorld): readonly string[] {
  const known = new Set([...world.clusters.map(keyOf), "", `${RIVAL}/${RIVAL}`]);
  const strays = world.hosts.filter(
    (host) => !known.has(clusterOf(host)) && !world.labelledByHand.has(keyOf(host)),
  );
  return [
    ...strays.map((host) => `${keyOf(host)} has labels of ${clusterOf(host)}, which is gone`),
    ...world.clusters.flatMap((cluster) => listWrong(world, cluster)),
    ...listLeft(world),
  ];
}

/** Objects of clusters that are gone. */
function listLeft({ objects }: SipWorld): readonly string[] {
  return ["services", "deployments", "configmaps", "secrets", "poddisruptionbudgets"].flatMap(
    (plural) =>
      objects.list(plural, TENANTS).flatMap(({ metadata: { name } }) => {
        const owner = NAMES.find((one) => name.endsWith(`-${one}`)) ?? "";
        const isKept =
          objects.get("sipclusters", { namespace: TENANTS, name: owner }) !== undefined;
        return isKept ? [] : [`${plural} ${name} is left`];
      }),
  );
}

function listWrong(world: SipWorld, cluster: ApiObject): readonly string[] {
  const key = keyOf(cluster);
  const own = world.hosts.filter((host) => isRecorded(cluster, host));
  const ready = readCondition(cluster, "Ready");
  if (isLeaving(cluster)) {
    if (own.some((host) => consumerOf(host) !== undefined)) {
      const isTold = ready === "False UnableToDecommission";
      return isTold ? [] : [`${key} waits for hosts in use and says "${ready}"`];
    }
    return [`${key} is not gone`];
  }
  const roles = ROLES.map((role) => toRole(world, { cluster, own, role }));
  const wrong = roles.flatMap(({ wrong: texts }) => texts);
  const unlabelled = own.filter((host) => clusterOf(host) !== key && !isPaused(host));
  wrong.push(...unlabelled.map((host) => `${keyOf(host)} lacks the labels of ${key}`));
  const isShort = roles.some(({ missing }) => missing > 0);
  const couldHave = roles.every(({ missing, addable }) => missing <= addable);
  if (isShort && couldHave) wrong.push(`${key} lacks hosts that it could have`);
  const wanted = isShort ? "False Unschedulable" : READY;
  if (ready !== wanted) wrong.push(`${key} says "${ready}" and not "${wanted}"`);
  wrong.push(...listWrongAddresses(world, cluster, own));
  return [...wrong, ...listWrongServers(world, key, own)];
}

interface RoleState {
  readonly missing: number;
  /** How many free hosts it could get at once. */
  readonly addable: number;
  readonly wrong: readonly string[];
}

function toRole(
  { hosts }: SipWorld,
  {
    cluster,
    own,
    role,
  }: { readonly cluster: ApiObject; readonly own: readonly ApiObject[]; readonly role: Role },
): RoleState {
  const { count, isSpread } = readWish(cluster, role);
  const mine = own.filter((host) => labelOf(host, LABELS.role) === role);
  const wrong: string[] = [];
  const loose = mine.filter((host) => !isUsed(host));
  if (mine.length > count && loose.length > 0) {
    wrong.push(`${keyOf(cluster)} has ${mine.length} ${role}, wants ${count}, and may give back`);
  }
  const racks = new Set(mine.map(rackOf));
  const free = hosts.filter(
    (host) => isFree(host) && labelOf(host, HOST_LABELS.flavor) === FLAVORS[role],
  );
  const open = free.filter((host) => !racks.has(rackOf(host)));
  const addable = isSpread ? new Set(open.map(rackOf)).size : free.length;
  return { missing: count - mine.length, addable, wrong };
}

/** The status shows the address of each host. */
function listWrongAddresses(
  { objects }: SipWorld,
  cluster: ApiObject,
  own: readonly ApiObject[],
): readonly string[] {
  return own.flatMap((host) => {
    const { addresses = [] } = findRecord(cluster, host) ?? {};
    const [shown, wanted] = [String(addresses), readAddress(objects, host)];
    return shown === wanted ? [] : [`${keyOf(host)} is shown at ${shown} and not at ${wanted}`];
  });
}

/** The load balancer has exactly the addresses of the control planes. */
function listWrongServers(
  { objects }: SipWorld,
  key: string,
  own: readonly ApiObject[],
): readonly string[] {
  const [namespace = "", cluster = ""] = key.split("/");
  const name = `loadbalancer-controlplane-${cluster}`;
  const map = objects.get("configmaps", { namespace, name });
  const config = map === undefined ? "" : stringAt(objectAt(map, "data"), "haproxy.cfg");
  const edited = ["services", "configmaps", "deployments"].filter((plural) => {
    const object = objects.get(plural, { namespace, name });
    if (object === undefined) return true;
    const isOurs = labelOf(object, "app.kubernetes.io/part-of") === "sip";
    return !isOurs || objectAt(object, "spec")["replicas"] === 0;
  });
  if (edited.length > 0) return [`${name} lacks ${edited.join(", ")}, or they were edited`];
  const shown = [...config.matchAll(/\b10\.2[34]\.\d+\.\d+\b/g)].map(([address]) => address);
  const controlPlanes = own.filter((host) => labelOf(host, LABELS.role) === "ControlPlane");
  const wanted = controlPlanes.map((host) => readAddress(objects, host));
  const isSame = [...new Set(shown)].toSorted().join() === [...new Set(wanted)].toSorted().join();
  return isSame ? [] : [`${name} leads to ${shown.join()} and not to ${wanted.join()}`];
}

/** The address that the network data of a host says. */
function readAddress(objects: SipWorld["objects"], { metadata }: ApiObject): string {
  const path = { namespace: String(metadata["namespace"]), name: `${metadata.name}-networkdata` };
  const data = readSecret(objects.get("secrets", path), "networkData");
  return /"ip_address":"([^"]+)"/.exec(data)?.[1] ?? "";
}

function readSecret(secret: ApiObject | undefined, key: string): string {
  if (secret === undefined) return "";
  return Buffer.from(stringAt(objectAt(secret, "data"), key), "base64").toString();
}
