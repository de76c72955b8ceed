/**
 * Draws XCP-ng hosts in a terminal: one mark for each virtual machine of Vinos on it. Pure.
 * @module
 */
import { parseMachineName } from "../../../cloud/capabilities/machines.ts";
import { MACHINE_ID } from "../../../controllers/vino/hosts/words.ts";
import { HOST_CLUSTER_NAME } from "../../../controllers/words.ts";
import type { ApiObject } from "../../../simulator/kubernetes/mod.ts";
import { annotationsOf } from "../../../simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../simulator/xenorchestra/mod.ts";
import { labelOf } from "../kind_story/objects.ts";
import { toName, toPlace } from "./world.ts";

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
