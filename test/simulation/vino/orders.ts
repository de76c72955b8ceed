/**
 * What a Vino of a story may ask for.
 * @module
 */
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import type { Random } from "../../support/random.ts";
import { toXenOrchestraSpec } from "../../support/vino/xen_orchestra_stage.ts";

/** What is asked for. */
export interface Order {
  /** Machines of the role `worker`. */
  readonly count: number;
  /** Whether counts are for each host; otherwise for all together. */
  readonly isPerHost: boolean;
  /** Machines of the role `control`. Absent: the spec does not have the role. */
  readonly control?: number;
  /** Whether machines try the network first. */
  readonly isNetboot: boolean;
  readonly cpus: number;
  readonly memory: string;
  /** Of the first disk, in GiB. */
  readonly rootGib: number;
  readonly hasData: boolean;
  /** Whether machines have a third interface. */
  readonly isWide: boolean;
  readonly deletes: boolean;
  /** Names and tags of hosts; none: all of the pool. */
  readonly hosts: { readonly names: readonly string[]; readonly tags: readonly string[] };
}

const CONTROL = "control";
/** A tag that hosts get and lose. */
export const HOST_TAG = "vino";
const ANY = { names: [], tags: [] };
const TAGGED = { names: [], tags: [HOST_TAG] };
const [ONE, SOME] = [["xcp-par-1"], ["xcp-par-2", "xcp-par-3"]];

/** Draws an order. */
export function drawOrder(random: Random): Order {
  const isPerHost = random.chance(0.3);
  return {
    count: random.pick(isPerHost ? [0, 1, 1, 2] : [0, 1, 1, 2, 2, 3]),
    isPerHost,
    ...random.pick([{}, {}, { control: 0 }, { control: 1 }]),
    isNetboot: random.chance(0.6),
    cpus: random.pick([2, 4]),
    memory: random.pick(["4Gi", "8Gi"]),
    rootGib: random.pick([20, 20, 30]),
    hasData: random.chance(0.5),
    isWide: random.chance(0.3),
    deletes: random.chance(0.7),
    hosts: random.pick([ANY, { ...ANY, names: ONE }, { ...ANY, names: SOME }, TAGGED, TAGGED]),
  };
}

/** The spec of an order, whole: merged into another one it says all that this one says. */
export function toSpec(order: Order): JsonObject {
  const { count, isPerHost, control, isNetboot, cpus, memory, rootGib } = order;
  const { hasData, isWide, deletes, hosts } = order;
  const spec = toXenOrchestraSpec(count, {
    cpus,
    memory,
    disks: [
      { name: "root", size: `${rootGib}Gi` },
      ...(hasData ? [{ name: "data", size: "5Gi", sr: "fast" }] : []),
    ],
    deletionPolicy: deletes ? "Delete" : "Retain",
    hosts,
    countPer: isPerHost ? "Host" : "Total",
    boot: isNetboot ? "Network" : "Template",
  });
  const nodes = (spec.nodes ?? []).map(({ networkInterfaces = [], ...node }) => ({
    ...node,
    networkInterfaces: isWide
      ? [...networkInterfaces, { name: "eth2", network: "oam" }]
      : networkInterfaces,
  }));
  const more = nodes.map((node) => ({ ...node, name: CONTROL, count: control }));
  return JSON.parse(
    JSON.stringify({ ...spec, nodes: control === undefined ? nodes : [...nodes, ...more] }),
  );
}
