/**
 * What must be true of Vinos once nothing more goes wrong.
 * @module
 */
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { consumerOf, hasBmc, isLeaving } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { isReady } from "./machines.ts";
import {
  countWanted,
  deletes,
  homeOf,
  listChosen,
  listTooMany,
  readWish,
  type Wish,
} from "./wishes.ts";
import { METAL, ROLES, type VinoWorld } from "../world.ts";

const VINO_UID = "landfall.dev/vino-uid";
const READY = "True ReconciliationSucceeded";

/** What is not true yet, in sentences; empty when all is right. */
export function listUntrue(world: VinoWorld): readonly string[] {
  return [
    ...world.vinoes.flatMap((vino) => listWrong(world, vino)),
    ...listLeft(world),
    ...listStrayHosts(world),
    ...listStrayObjects(world),
  ];
}

function listWrong(world: VinoWorld, vino: ApiObject): readonly string[] {
  const { cloudJudge, hosts, objects } = world;
  const { name } = vino.metadata;
  if (isLeaving(vino)) return [`${name} is not gone: ${listMessages(world, vino)}`];
  const uid = stringAt(vino.metadata, "uid");
  const ours = cloudJudge.machines.list().filter(({ birth }) => uid.startsWith(birth.uid));
  const parts = ROLES.map((role) => {
    const wish = readWish(vino, role);
    const made = ours.filter(({ birth }) => birth.role === role);
    const homes = made.map(({ vm }) => homeOf(vm));
    const chosen = listChosen(wish, world.hypervisors);
    return { wish, made, homes, chosen, count: countWanted(wish, { homes, chosen }) };
  });
  const count = parts.reduce((sum, one) => sum + one.count, 0);
  const wrong: string[] = [];
  for (const { count: wanted, made } of parts) {
    const ready = made.filter(({ vm }) => isReady(vm));
    if (ready.length < Math.min(made.length, wanted)) {
      wrong.push(`${name} has VMs that are not complete`);
    }
  }
  const names = new Set(ours.map(({ birth }) => birth.name));
  if (names.size < ours.length) wrong.push(`${name} has twins`);
  for (const { wish, made, homes, chosen, count: wanted } of parts) {
    if (made.length < wanted) wrong.push(`${name} has ${made.length} VMs and wants ${wanted}`);
    else if (hasGap(wish, homes, chosen)) wrong.push(`${name} lacks VMs on a host`);
    if (deletes(vino) && listTooMany(wish, homes).length > 0) {
      wrong.push(`${name} has VMs that it does not want`);
    }
  }
  const own = hosts.filter((host) => ownerOf(host) === uid);
  if (own.length !== count) wrong.push(`${name} has ${own.length} hosts and wants ${count}`);
  for (const host of own) {
    for (const end of ["network-data", ...(hasBmc(host) ? ["bmc-credentials"] : [])]) {
      const secret = { namespace: METAL, name: `${host.metadata.name}-${end}` };
      if (!objects.get("secrets", secret)) wrong.push(`${secret.name} does not exist`);
    }
  }
  // Half an hour after an attempt that ended unclearly Landfall looks once more, and notes that; not for what it keeps.
  const keeps = !deletes(vino) && parts.some((one) => one.made.length > one.count);
  const objectsOf = world.listObjects(vino);
  if (!keeps && JSON.stringify(objectsOf).includes('\\"doubtAt')) {
    wrong.push(`${name} has yet to look for what may come late`);
  }
  if (objectsOf.length !== names.size) {
    wrong.push(`${name} has ${objectsOf.length} VinoMachines and ${names.size} VMs`);
  }
  const { removals = [] } = objectAt(vino, "status");
  // For ten minutes removals count for the fleet limit, and then they leave the status.
  if (isArray(removals) && removals.length > 0) wrong.push(`${name} has yet to forget removals`);
  const isInUse = own.some((host) => consumerOf(host) !== undefined);
  const waits = readCondition(vino, "ContractionBlocked") === "True HostsInUse";
  if (waits && !isInUse) wrong.push(`${name} waits for hosts that nothing uses`);
  const said = readCondition(vino, "Ready");
  if (said !== READY) wrong.push(`${name} says "${said}": ${listMessages(world, vino)}`);
  return wrong;
}

/** Whether a host that a Vino names has fewer machines than each is to have. */
function hasGap(
  { count, isPerHost }: Wish,
  homes: readonly string[],
  chosen: ReadonlySet<string>,
): boolean {
  const lacks = (id: string): boolean => homes.filter((home) => home === id).length < count;
  return isPerHost && [...chosen].some(lacks);
}

/** Templates and disks that are of no use to anybody, and VMs of Vinos that deleted theirs before they went. */
function listLeft({ cloud, cloudJudge, vinoes }: VinoWorld): readonly string[] {
  const { state, backend } = cloud;
  const { watcher, machines } = cloudJudge;
  // Xen Orchestra left it, and it has the name of the template's disk: nobody can tell whose it is.
  const isUnknowable = ({ id, name_label: name }: XoRecord): boolean =>
    backend.rolledBack.has(id) && !String(name).startsWith("vino-");
  const isLoose = ({ id }: XoRecord): boolean => !watcher.isForeign(id) && !used.has(id);
  const uids = vinoes.map(({ metadata }) => stringAt(metadata, "uid"));
  const used = new Set([...state.all("vbds").values()].map((vbd) => String(vbd["VDI"])));
  const left = [
    ...[...state.all("vm-templates").values()].filter(({ id }) => !watcher.isForeign(id)),
    ...[...state.all("vdis").values()].filter((vdi) => isLoose(vdi) && !isUnknowable(vdi)),
    ...machines
      .list()
      .filter(({ birth }) => !uids.some((uid) => uid.startsWith(birth.uid)))
      .map(({ vm }) => vm),
  ];
  return left
    .map((record) => String(record["name_label"]))
    .filter((name) => !cloudJudge.wishes.mayStay(name))
    .map((name) => `${name} is left`);
}

/** Hosts of Vinos that are gone. */
function listStrayHosts(world: VinoWorld): readonly string[] {
  const stray = world.hosts.filter((host) => !isOfVino(world, host));
  return stray.map(({ metadata }) => `${metadata.name} is a host of a Vino that is gone`);
}

/** VinoMachines of Vinos that are gone. */
function listStrayObjects(world: VinoWorld): readonly string[] {
  const kept = new Set(world.vinoes.flatMap((vino) => world.listObjects(vino)));
  const stray = world.objects.list("vinomachines", METAL).filter((one) => !kept.has(one));
  return stray.map(({ metadata }) => `${metadata.name} is a VinoMachine of a Vino that is gone`);
}

/** Whether a host has the label of a Vino that there is. */
export function isOfVino({ vinoes }: VinoWorld, host: ApiObject): boolean {
  return vinoes.some(({ metadata }) => stringAt(metadata, "uid") === ownerOf(host));
}

/** The UID of the Vino that a host is of. */
function ownerOf({ metadata }: ApiObject): string {
  return stringAt(objectAt(metadata, "labels"), VINO_UID);
}

/** A condition as `status reason`; `""` without one for the newest spec. */
export function readCondition(vino: ApiObject, type: string): string {
  const { conditions = [] } = objectAt(vino, "status");
  const all = isArray(conditions) ? conditions.filter(isObject) : [];
  const found = all.find((one) => stringAt(one, "type") === type);
  if (found === undefined || found["observedGeneration"] !== vino.metadata["generation"]) return "";
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
}

/** What is said about single machines. */
function listMessages(world: VinoWorld, vino: ApiObject): string {
  const toText = ({ metadata, ...one }: ApiObject): string => {
    const status = objectAt(one, "status");
    return [metadata.name, ...["state", "message"].map((key) => stringAt(status, key))].join(" ");
  };
  return world.listObjects(vino).map(toText).join(", ");
}
