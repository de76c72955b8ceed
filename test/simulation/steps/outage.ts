/**
 * What happens while a cloud, or a part of it, is lost for long.
 * @module
 */
import { type Step, toStep } from "./mod.ts";

/** A kubelet is not heard of any more. */
export const SICKEN: Step = toStep("Node not Ready for long", 2, (world) => {
  const name = world.random.pick([...world.machines.keys()]);
  if (!world.findNode(name)) return undefined;
  world.setReady(name, false);
  return name;
});

/** Mostly nothing: a stay must last, and so must an absence. */
export const REST: Step = { name: "nothing", weight: 6, act: () => undefined };
