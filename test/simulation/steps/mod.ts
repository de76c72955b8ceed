/**
 * Everything that may happen next, and how often it does.
 * @module
 */
import type { Random } from "../../support/random.ts";
import type { World } from "../world/mod.ts";
import type { Cloud, WorldSettings } from "../world/cloud.ts";

/** One thing that may happen in a world. */
export interface Step<W = World> {
  readonly name: string;
  /** How often, against the other steps. */
  readonly weight: number;
  /** Lets it happen. Returns what it did, for the trace; nothing when it cannot happen now. */
  readonly act: (world: W) => string | undefined;
}

export function toStep<W>(name: string, weight: number, act: Step<W>["act"]): Step<W> {
  return { name, weight, act };
}

/** Something that happens to one of several things. It cannot happen while there are none. */
export function toStepOf<W extends { readonly random: Random }, T>(
  name: string,
  weight: number,
  list: (world: W) => readonly T[],
  act: (world: W, one: T) => string | undefined,
): Step<W> {
  return toStep(name, weight, (world) => {
    const all = list(world);
    return all.length === 0 ? undefined : act(world, world.random.pick(all));
  });
}

/** Draws one step and lets it happen. */
export function takeStep<W extends World>(world: W, steps: readonly Step<W>[]): void {
  const { name, act } = world.random.weigh(steps);
  const what = act(world);
  if (what === undefined) return;
  world.trace.note("STEP", `${name}: ${what}`);
  world.noteChange();
}

/** Lets something happen by itself, later. */
export function later(world: World, ms: number, act: () => void): void {
  world.timeline.schedule(ms, () => {
    act();
    world.noteChange();
  });
}

/** A cloud that stories can be told of. */
export interface Script<C extends Cloud = Cloud> {
  createWorld(seed: number, toSettings: (random: Random) => WorldSettings): World<C>;
  /** What may happen to its machines, and to itself. */
  readonly steps: readonly Step<World<C>>[];
  /** What happens, or happens more often, in some of its worlds only. */
  listMoreSteps(world: World<C>): readonly Step<World<C>>[];
  /** What happens while a part of it is lost for long. */
  readonly outageSteps: readonly Step<World<C>>[];
  /** Loses a part of it for long. */
  beginOutage(world: World<C>, ms: number): void;
}

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

/** A kubelet is not heard of any more. */
export const SICKEN: Step = toStep("Node not Ready for long", 2, (world) => {
  const name = world.random.pick([...world.machines.keys()]);
  if (!world.findNode(name)) return undefined;
  world.setReady(name, false);
  return name;
});

/** Mostly nothing: a stay must last, and so must an absence. */
export const REST: Step = { name: "nothing", weight: 6, act: () => undefined };
