/**
 * A cloud of plain instances, and what tests of the running node controller look at.
 * @module
 */
import { isUninitialized } from "../../../lib/controllers/identity.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { FakeProvider, toInstance } from "../cloud/instances.ts";
import type { Rig } from "./rig.ts";

/** What every instance of {@linkcode toProvider} is. */
export const INSTANCE = {
  region: "r",
  zone: "z",
  instanceType: "t",
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
} as const;

/** A cloud of instances of these names. */
export function toProvider(...names: readonly string[]): FakeProvider {
  const provider = new FakeProvider();
  for (const [at, name] of names.entries()) {
    const address = `10.0.0.${at + 1}`;
    const addresses = [{ type: "InternalIP", address } as const];
    provider.instances.set(name, toInstance(name, { ...INSTANCE, addresses }));
  }
  return provider;
}

/** Whether a Node is there and initialised. */
export function isDone(node: Node | undefined): boolean {
  return node !== undefined && !isUninitialized(node);
}

/** How many writes of each kind the API server got. */
export function countWrites(rig: Rig): Record<string, number> {
  const { counts } = rig.kubernetes.requests;
  const keys = ["patch nodes", "patch nodes/status", "create events", "patch events"];
  return Object.fromEntries(keys.map((key) => [key, counts.get(key) ?? 0]));
}

/** How many keys were queued so far, by the metrics of the process. */
export function countQueued(metrics: string): number {
  return Number(/workqueue_adds_total\{name="Nodes"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}
