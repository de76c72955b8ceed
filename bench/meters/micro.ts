/**
 * The cost of the pure functions, in this process.
 * @module
 */
import { heapStats } from "bun:jsc";
import type { Presence } from "../../lib/cloud/provider.ts";
import { planNode } from "../../lib/controllers/node/plan.ts";
import { createLogger } from "../../lib/core/log.ts";
import { type Node, NODES } from "../../lib/kube/kinds/node.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import type { Figures } from "../budgets.ts";
import type { CloudName } from "../clouds/mod.ts";
import { toReading } from "../clouds/reading.ts";
import { toListedNode } from "../fleet.ts";

const VMS = 5_000;
const NODES_PLANNED = 1_000;
const ROUNDS = 10;

/** Measures them, each the best of ten rounds. */
export function measureMicro(cloud: CloudName): Figures {
  const { machines, read } = toReading(cloud, VMS);
  const { instances } = read();
  const now = new Date().toISOString();
  const listed = machines.map((machine) => JSON.stringify(toListedNode(machine, now)));
  const { nodes, bytes } = fillStore(listed);
  const pairs = machines.slice(0, NODES_PLANNED).flatMap(({ nodeName, vmId }) => {
    const node = nodes.get(nodeName);
    const instance = instances.get(vmId);
    return node && instance ? [{ node, instance }] : [];
  });
  const plan = (): void => {
    for (const { node, instance } of pairs) {
      const presence: Presence = { kind: "present", instance, matchedBy: "name" };
      if (!planNode(node, presence, "trusted").initialises) throw new Error("nothing was planned");
    }
  };
  return {
    toInventory: measureMs(read),
    planNode: measureMs(plan),
    storePerNode: bytes / listed.length / 1024,
  };
}

/** Reads Nodes into a store, and returns how much the heap has grown. */
function fillStore(listed: readonly string[]): { nodes: Store<Node>; bytes: number } {
  const log = createLogger({ format: "text", level: "error", write: () => {}, now: () => 0 });
  const nodes = new Store<Node>({ resource: NODES, log });
  const before = readHeapBytes();
  nodes.replace(
    listed.map((text): Node => JSON.parse(text)),
    "1",
  );
  return { nodes, bytes: readHeapBytes() - before };
}

function readHeapBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

function measureMs(work: () => unknown): number {
  let bestMs = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    work();
    bestMs = Math.min(bestMs, performance.now() - startMs);
  }
  return bestMs;
}
