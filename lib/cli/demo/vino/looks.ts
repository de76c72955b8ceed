/**
 * What the steps of the demo of Vinos look at, and how XCP-ng hosts are drawn in a terminal.
 * @module
 */
import { parseMachineName, toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import { HOST, MACHINE_ID, MACHINE_NAME } from "../../../controllers/vino/hosts/words.ts";
import { HOST_CLUSTER_NAME } from "../../../controllers/words.ts";
import type { ApiObject } from "../../../simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../simulator/kubernetes/patches/json.ts";
import { annotationsOf } from "../../../simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../simulator/xenorchestra/mod.ts";
import { conditionOf, labelOf } from "../objects.ts";
import type { BareStage } from "../steps.ts";
import { toName, toPlace, type VinoWorld } from "./world.ts";

/** What the steps work with. */
export interface VinoStage extends BareStage {
  readonly world: VinoWorld;
}

const READY = "True ReconciliationSucceeded";

/** The machines of a Vino in the cloud, whole or not, by name. @param role Only of this role */
export function machinesOf(
  { world }: VinoStage,
  vino: string,
  role: string = "",
): readonly XoRecord[] {
  const object = world.findVino(vino);
  if (object === undefined) return [];
  const prefix = toOwnerPrefix({ uid: String(object.metadata["uid"]) });
  return world.machines.filter((vm) => toName(vm).startsWith(`${prefix}${role}`));
}

/** Names of these machines. */
export function listNames(stage: VinoStage, vino: string): readonly string[] {
  return machinesOf(stage, vino).map(toName);
}

/** Whether a Vino has so many machines and is ready. */
export function isReady(stage: VinoStage, vino: string, machines: number): boolean {
  const object = stage.world.findVino(vino);
  return conditionOf(object) === READY && machinesOf(stage, vino).length === machines;
}

/** Whether something keeps machines that the spec does not want, for this reason. */
export function isBlocked({ world }: VinoStage, vino: string, reason: string): boolean {
  return conditionOf(world.findVino(vino), "ContractionBlocked") === `True ${reason}`;
}

/** Whether there are so many machines, each name once, all running, and no template that was forgotten. */
export function isEachOnce(stage: VinoStage, vino: string, machines: number): boolean {
  const names = listNames(stage, vino);
  const { state } = stage.world.cloud;
  const templates = state.list("vm-templates").filter((one) => toName(one).startsWith("vino-"));
  const own = templates.filter((one) => names.includes(toName(one)));
  const isRunning = machinesOf(stage, vino).every((vm) => vm["power_state"] === "Running");
  return (
    new Set(names).size === machines && names.length === machines && own.length === 0 && isRunning
  );
}

/** The BareMetalHost of a machine. */
export function findHostOf({ world }: VinoStage, vm: XoRecord): ApiObject | undefined {
  return world.bareMetalHosts.find((host) => annotationsOf(host)[MACHINE_ID] === vm.id);
}

/** How many BareMetalHosts a SIPCluster has. @param host Only this one counts */
export function countClaimed({ world }: VinoStage, host?: ApiObject): number {
  const hosts = host === undefined ? world.bareMetalHosts : [host];
  return hosts.filter((one) => labelOf(one, HOST_CLUSTER_NAME) !== "").length;
}

/** A line for each BareMetalHost of a Vino: `edge-worker-0: 192.0.2.13, on xcp-par-1`. */
export function describeHosts({ world }: VinoStage, vino: string): readonly string[] {
  return world.listObjects(vino).flatMap((object) => {
    const name = stringAt(objectAt(object, "spec"), "machineName");
    const host = world.bareMetalHosts.find((one) => annotationsOf(one)[MACHINE_NAME] === name);
    if (host === undefined) return [];
    const place = world.hosts.get(labelOf(host, HOST)) ?? "no host";
    return [
      `${host.metadata.name}: ${stringAt(objectAt(object, "status"), "address")}, on ${place}`,
    ];
  });
}

/** The last machine of a role whose BareMetalHost no SIPCluster has. */
export function findFree(stage: VinoStage, vino: string, role: string): XoRecord | undefined {
  return machinesOf(stage, vino, role).findLast((vm) => {
    const host = findHostOf(stage, vm);
    return host !== undefined && countClaimed(stage, host) === 0;
  });
}

/** How many BareMetalHosts there are. */
export function countHosts({ world }: VinoStage): number {
  return world.bareMetalHosts.length;
}

/** Names of disks that were made for machines and that no machine has. */
export function listOrphanDisks({ cloud: { state } }: VinoWorld): readonly string[] {
  const links = state.list("vbds");
  return state
    .list("vdis")
    .filter((vdi) => toName(vdi).startsWith("vino-") && !links.some((vbd) => vbd["VDI"] === vdi.id))
    .map(toName);
}

/** What the marks mean. */
export const LEGEND =
  "c control plane   w worker   C, W and a SIPCluster has its host   + being made   * VM without a BareMetalHost";

/** What is drawn. */
interface Scenery {
  /** Names of XCP-ng hosts by ID. */
  readonly hosts: ReadonlyMap<string, string>;
  readonly machines: readonly XoRecord[];
  readonly bareMetalHosts: readonly ApiObject[];
}

/** A line for each XCP-ng host: `xcp-par-1   C w +`; one for machines that are on none. */
export function drawHosts({ hosts, machines, bareMetalHosts }: Scenery): readonly string[] {
  const published = new Map(
    bareMetalHosts.map((host) => [String(annotationsOf(host)[MACHINE_ID]), host]),
  );
  const byHost = Map.groupBy(machines, (vm) => hosts.get(toPlace(vm)));
  const width = Math.max(...[...hosts.values()].map((name) => name.length));
  const draw = (name: string, some: readonly XoRecord[]): string =>
    `     ${name.padEnd(width)}   ${some.map((vm) => toMark(vm, published)).join(" ")}`.trimEnd();
  const loose = byHost.get(undefined) ?? [];
  return [
    ...[...hosts.values()].map((name) => draw(name, byHost.get(name) ?? [])),
    ...(loose.length > 0 ? [draw("off", loose)] : []),
  ];
}

function toMark(vm: XoRecord, published: ReadonlyMap<string, ApiObject>): string {
  const letter = parseMachineName(toName(vm))?.role.slice(0, 1) ?? "?";
  const host = published.get(vm.id);
  if (host === undefined) return isRunning(vm) ? `${letter}*` : "+";
  return labelOf(host, HOST_CLUSTER_NAME) === "" ? letter : letter.toUpperCase();
}

function isRunning(vm: XoRecord): boolean {
  return vm["power_state"] === "Running";
}
