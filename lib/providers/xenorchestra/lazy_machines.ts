/**
 * The machines of Xen Orchestra, whose code is loaded only when a controller follows them, or asks for them.
 * @module
 */
import type { Machines } from "../../cloud/capabilities/machines.ts";
import { assert } from "../../core/errors.ts";
import type { View } from "./machines/look/view.ts";
import type { MachinesOptions, XenOrchestraMachines } from "./machines/machines.ts";
import type { Step } from "./machines/steps.ts";
import type { Memory } from "./memory.ts";
import type { Followed } from "./inventory.ts";

/** What {@linkcode createLazyMachines} needs. */
interface LazyMachinesOptions extends Omit<MachinesOptions, "own"> {
  readonly memory: Pick<Memory, "ownChanges">;
  /** Makes inventories show machines. */
  readonly follow: (followed: Followed) => void;
}

/** See {@linkcode Machines}. */
export interface LazyMachines extends Machines<View, Step> {
  /** Resolves when inventories show machines, if a controller follows them. */
  whenFollowed(): Promise<void>;
}

/** Creates machines without their code. */
export function createLazyMachines(options: LazyMachinesOptions): LazyMachines {
  let loading: Promise<XenOrchestraMachines> | undefined;
  let loaded: XenOrchestraMachines | undefined;
  let following: Promise<void> | undefined;
  const load = (): Promise<XenOrchestraMachines> => {
    loading ??= loadMachines(options).then((machines) => (loaded = machines));
    return loading;
  };
  // Views and steps come only from what was loaded.
  const now = (): XenOrchestraMachines => {
    assert(loaded !== undefined, "a view of machines comes from loaded code");
    return loaded;
  };
  const follow = async (): Promise<void> => {
    const [{ FOLLOWED }] = await Promise.all([import("./machines/wire/followed.ts"), load()]);
    options.follow(FOLLOWED);
  };
  return {
    follow: () => void (following ??= follow()),
    whenFollowed: async () => await following,
    observe: async (question, signal) => await (await load()).observe(question, signal),
    plan: (view, spec, record) => now().plan(view, spec, record),
    planRemoval: (view, identity, record) => now().planRemoval(view, identity, record),
    apply: (step, context, signal) => now().apply(step, context, signal),
    mayGoOn: (error) => loaded?.mayGoOn(error) ?? false,
    inspect: async (isManaged, signal) => await (await load()).inspect(isManaged, signal),
    power: {
      read: async (id, signal) => await (await load()).power.read(id, signal),
      readInterfaces: async (id, signal) => await (await load()).power.readInterfaces(id, signal),
      act: async (...asked) => await (await load()).power.act(...asked),
      setBootOrder: async (...asked) => await (await load()).power.setBootOrder(...asked),
    },
  };
}

async function loadMachines({
  memory,
  ...options
}: LazyMachinesOptions): Promise<XenOrchestraMachines> {
  const [{ XenOrchestraMachines: Loaded }, { OwnChanges }] = await Promise.all([
    import("./machines/machines.ts"),
    import("./machines/wire/own_changes.ts"),
  ]);
  const own = (memory.ownChanges ??= new OwnChanges(options.clock));
  return new Loaded({ ...options, own });
}
