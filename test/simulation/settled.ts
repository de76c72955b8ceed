/**
 * Worlds of tests, in which all is as it should be at first.
 * @module
 */
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import type { WorldSettings } from "./world/cloud.ts";
import type { World } from "./world/mod.ts";
import type { Process } from "./world/process.ts";

/** Settings of such a world. */
export const SETTINGS: WorldSettings = {
  deletion: DEFAULT_DELETION,
  refreshIntervalMs: 10_000,
  replicas: 1,
  pools: 2,
  nodes: 4,
};

/** Starts the processes, and lets Nodes join. @param ms So long they have for it */
export async function settle<W extends World>(
  world: W,
  names: readonly string[],
  ms: number,
): Promise<W> {
  for (const replica of world.replicas) replica.start({ rate: 1, skewMs: 0 });
  for (const name of names) {
    world.addMachine(name);
    world.join(name);
  }
  world.noteChange();
  await world.timeline.advance(ms);
  return world;
}

/** The process that leads. @throws an error if none does */
export function findLeader(world: World): Process {
  return world.findProcess(world.server.holder ?? "").process;
}

/** A Node. @throws an error if there is none of that name */
export function readNode(world: World, name: string): Node {
  const node = world.findNode(name);
  if (node === undefined) throw new Error(`There is no ${name}`);
  return node;
}
