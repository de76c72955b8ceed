/**
 * What the kubelet of a machine does as that is started or goes.
 * @module
 */
import type { World } from "../world/mod.ts";
import { later, type Step, toStepOf } from "./mod.ts";

/** A machine that there is. */
interface Machine {
  /** Of the Node that it is, or may become. */
  readonly name: string;
  readonly vmId: string;
}

/** Something that happens to a machine. */
export function onMachine<W extends World>(
  name: string,
  weight: number,
  act: (world: W, machine: Machine) => string | undefined,
): Step<W> {
  const list = ({ machines, truth }: W) => [...machines].filter(([, vmId]) => truth.has(vmId));
  return toStepOf(name, weight, list, (world, [node, vmId]) => act(world, { name: node, vmId }));
}

/** The kubelet of a machine that was started reports. A second Node of it may be gone again: then as the first. */
export function boot(world: World, { name, vmId }: Machine): void {
  const names = [name, ...[...world.machines].filter(([, id]) => id === vmId).map(([one]) => one)];
  const found = names.find((one) => world.findNode(one) !== undefined);
  if (found !== undefined) world.boot(found);
}

/** Lets the kubelet of a machine that went fall silent, as soon as the node monitor misses it, or much later. */
export function fall(world: World, name: string): void {
  const uid = world.findNode(name)?.metadata.uid;
  if (uid === undefined) return;
  const ms = world.random.chance(0.6) ? 0 : world.random.between(0, 50_000);
  later(world, ms, () => {
    const isSame = world.findNode(name)?.metadata.uid === uid;
    if (isSame && !world.isRunning(name)) world.setReady(name, false);
  });
}
