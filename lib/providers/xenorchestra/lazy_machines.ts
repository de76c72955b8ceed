/**
 * The machines of Xen Orchestra, whose code is loaded only when a controller follows them, or asks for them.
 * @module
 */
import type {
  BootDevice,
  MachineInterfaces,
  MachinePower,
  MachineReading,
  PowerAction,
} from "../../cloud/capabilities/machine_power.ts";
import type {
  MachineIdentity,
  MachinePlan,
  Machines,
  MachineSpec,
  MachinesQuestion,
  MachineStepContext,
} from "../../cloud/capabilities/machines.ts";
import type { Finding } from "../../cloud/inspection.ts";
import { assert } from "../../core/errors.ts";
import type { Fence } from "../../core/fence.ts";
import type { MachinesOptions, XenOrchestraMachines } from "./machines/machines.ts";
import type { Step } from "./machines/steps.ts";
import type { View } from "./machines/look/view.ts";
import type { Memory } from "./memory.ts";
import type { Followed } from "./wire/lister.ts";

/** What {@linkcode LazyMachines} needs. */
interface LazyMachinesOptions extends Omit<MachinesOptions, "own"> {
  readonly memory: Pick<Memory, "ownChanges">;
  /** Makes inventories show machines. */
  readonly follow: (followed: Followed) => void;
}

/** Everything that was loaded. */
interface Loaded {
  readonly machines: XenOrchestraMachines;
  readonly followed: Followed;
}

/** See {@linkcode Machines}. */
export class LazyMachines implements Machines<View, Step> {
  readonly power: MachinePower;
  readonly #options: LazyMachinesOptions;
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;
  #following: Promise<void> | undefined;

  constructor(options: LazyMachinesOptions) {
    this.#options = options;
    this.power = new LazyPower(async () => (await this.#load()).machines.power);
  }

  follow(): void {
    this.#following ??= this.#load().then(({ followed }) => this.#options.follow(followed));
  }

  /** Resolves when inventories show machines, if a controller follows them. */
  async whenFollowed(): Promise<void> {
    await this.#following;
  }

  async observe(question: MachinesQuestion, signal: AbortSignal): Promise<View> {
    return await (await this.#load()).machines.observe(question, signal);
  }

  plan(view: View, spec: MachineSpec, record: string | undefined): MachinePlan<Step> {
    return this.#now.plan(view, spec, record);
  }

  planRemoval(
    view: View,
    identity: MachineIdentity,
    record: string | undefined,
  ): MachinePlan<Step> {
    return this.#now.planRemoval(view, identity, record);
  }

  apply(step: Step, context: MachineStepContext, signal: AbortSignal): Promise<void> {
    return this.#now.apply(step, context, signal);
  }

  mayGoOn(error: unknown): boolean {
    return this.#loaded?.machines.mayGoOn(error) ?? false;
  }

  async inspect(isManaged: boolean, signal: AbortSignal): Promise<readonly Finding[]> {
    return await (await this.#load()).machines.inspect(isManaged, signal);
  }

  /** Views and steps come only from what was loaded. */
  get #now(): XenOrchestraMachines {
    assert(this.#loaded !== undefined, "a view of machines comes from loaded code");
    return this.#loaded.machines;
  }

  #load(): Promise<Loaded> {
    this.#loading ??= load(this.#options).then((loaded) => {
      this.#loaded = loaded;
      return loaded;
    });
    return this.#loading;
  }
}

async function load({ memory, ...options }: LazyMachinesOptions): Promise<Loaded> {
  const [{ XenOrchestraMachines: Loaded }, { FOLLOWED: followed }, { OwnChanges }] =
    await Promise.all([
      import("./machines/machines.ts"),
      import("./machines/wire/followed.ts"),
      import("./machines/wire/own_changes.ts"),
    ]);
  const own = (memory.ownChanges ??= new OwnChanges(options.clock));
  return { machines: new Loaded({ ...options, own }), followed };
}

/** The power of machines, loaded when it is asked for. */
class LazyPower implements MachinePower {
  readonly #load: () => Promise<MachinePower>;

  constructor(load: () => Promise<MachinePower>) {
    this.#load = load;
  }

  async read(id: string, signal: AbortSignal): Promise<MachineReading | undefined> {
    return await (await this.#load()).read(id, signal);
  }

  async readInterfaces(id: string, signal: AbortSignal): Promise<MachineInterfaces | undefined> {
    return await (await this.#load()).readInterfaces(id, signal);
  }

  async act(id: string, action: PowerAction, fence: Fence, signal: AbortSignal): Promise<void> {
    await (await this.#load()).act(id, action, fence, signal);
  }

  async setBootOrder(
    id: string,
    order: readonly BootDevice[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void> {
    await (await this.#load()).setBootOrder(id, order, fence, signal);
  }
}
