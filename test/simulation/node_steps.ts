/**
 * What kubelets and people do to Nodes.
 * @module
 */
import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

const join: Step = {
  name: "Node joins",
  weight: 4,
  act: (world) => {
    const { random, settings } = world;
    const name = `n${random.between(1, settings.nodes)}`;
    if (world.findNode(name)) return undefined;
    const vmId = world.machines.get(name);
    if (vmId === undefined || !world.truth.find(vmId)) world.addMachine(name);
    else if (!world.truth.isRunning(vmId)) return undefined;
    world.join(name);
    return name;
  },
};

const fall: Step = {
  name: "Node ceases to be Ready",
  weight: 3,
  act: (world) => {
    const name = pickNode(world);
    if (name !== undefined) world.setReady(name, false);
    return name;
  },
};

const recover: Step = {
  name: "Node is Ready again",
  weight: 3,
  act: (world) => {
    const name = pickNode(world);
    const isRunning = world.truth.isRunning(world.machines.get(name ?? "") ?? "");
    if (name === undefined || !isRunning) return undefined;
    world.setReady(name, true);
    return name;
  },
};

/** The name of a Node that is there. */
function pickNode({ random, server }: World): string | undefined {
  const { nodes } = server;
  return nodes.length === 0 ? undefined : random.pick(nodes).metadata.name;
}

export const NODE_STEPS: readonly Step[] = [join, fall, recover];
