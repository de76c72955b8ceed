/**
 * A cloud in memory that makes machines in a few steps, and fails when a test says so.
 * @module
 */
import {
  type Machine,
  type MachineHost,
  type MachineIdentity,
  type MachinePlan,
  type MachinePool,
  type Machines,
  type MachineSpec,
  type MachinesQuestion,
  type MachineStep,
  type MachineStepContext,
  type MachinesView,
  toMachineName,
} from "../../../lib/cloud/capabilities/machines.ts";
import type { MachineMac } from "../../../lib/cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { HintingProvider } from "../cloud/instances.ts";

/** A machine of the double. `made` counts its steps. */
interface DoubleMachine {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
  readonly hostId: string;
  stage: "made" | "configured" | "ready";
  cpus: number;
  seed?: MachineSpec["seed"];
  disks: number;
}

/** A change. */
export interface DoubleMachineStep extends MachineStep {
  readonly kind: "create" | "configure" | "complete" | "resize" | "detach" | "delete";
  readonly name: string;
  readonly spec?: MachineSpec;
}

/** What the double is asked for, in order: `look a,b`, `create vino-…`. */
type DoubleCall = string;

/** The pool of the double. */
export const POOL: MachinePool = { id: "pool-1", name: "lyon", isComplete: true };

/** A host of the double. */
export function toDoubleHost(id: string, change: Partial<MachineHost> = {}): MachineHost {
  return { id, name: id, poolId: POOL.id, tags: [], isEnabled: true, ...change };
}

/** A provider whose only capability is to make machines. */
export class MachinesDouble
  extends HintingProvider
  implements Machines<MachinesView, DoubleMachineStep>
{
  readonly machines: this = this;
  /** What exists, by name. */
  readonly world: Map<string, DoubleMachine> = new Map();
  hosts: readonly MachineHost[] = ["h1", "h2", "h3"].map((id) => toDoubleHost(id));
  pools: readonly MachinePool[] = [POOL];
  /** What looks for a change show. */
  macs: readonly MachineMac[] = [];
  readonly calls: DoubleCall[] = [];
  isFollowed = false;
  /** Whether steps keep records. */
  savesRecords = true;
  /** Steps that run now, and how many ran at most. */
  running = 0;
  mostAtOnce = 0;
  /** Awaited before a look for a change is answered; may throw. */
  onLook: () => Promise<void> | void = () => undefined;
  /** Awaited before a step changes anything; may throw. */
  onStep: (step: DoubleMachineStep) => Promise<void> | void = () => undefined;
  /** Awaited after a step changed something, before its caller knows; may throw. */
  afterStep: (step: DoubleMachineStep) => Promise<void> | void = () => undefined;
  /** The world as the last inventory shows it. */
  #inventory: MachinesView | undefined;
  #ids = 0;

  readonly power: Machines["power"] = {
    read: () => Promise.resolve(undefined),
    readName: () => Promise.resolve(undefined),
    readInterfaces: () => Promise.resolve(undefined),
    act: () => Promise.reject(new CloudError("protocol", "no power here")),
    setBootOrder: () => Promise.reject(new CloudError("protocol", "no power here")),
    setFirmware: () => Promise.reject(new CloudError("protocol", "no power here")),
  };

  follow(): void {
    this.isFollowed = true;
  }

  /** Makes an inventory of the world, as a refresh does. */
  override async listInventory(
    ...args: Parameters<HintingProvider["listInventory"]>
  ): ReturnType<HintingProvider["listInventory"]> {
    const inventory = await super.listInventory(...args);
    this.#inventory = this.#toView(false, inventory.observedAtMs);
    // A change of a machine is a change of an instance.
    const instances = [...this.world.values()].map(({ id, name, stage, cpus }) => ({
      id,
      providerId: `test://${id}`,
      name,
      state: "running" as const,
      addresses: [],
      labels: {},
      details: { stage, cpus: String(cpus) },
    }));
    return { ...inventory, instances: new Map(instances.map((one) => [one.id, one])) };
  }

  async observe(
    { isForChange, machines = [] }: MachinesQuestion,
    signal: AbortSignal,
  ): Promise<MachinesView> {
    signal.throwIfAborted();
    if (!isForChange) {
      if (this.#inventory) return this.#inventory;
      throw new CloudError("unreachable", "there is no inventory yet");
    }
    this.calls.push(`look ${machines.map(({ role, index }) => `${role}-${index}`).join(",")}`);
    if (this.failure) throw this.failure;
    const atMs = this.clock();
    await this.onLook();
    signal.throwIfAborted();
    return this.#toView(true, atMs);
  }

  plan(view: MachinesView, spec: MachineSpec): MachinePlan<DoubleMachineStep> {
    const name = toMachineName(spec);
    const [machine] = view.machines.get(name) ?? [];
    const found = this.#views.get(view)?.get(name);
    if (machine === undefined || found === undefined) {
      if (!isWhole(view, spec.poolId)) return toPlan("Unknown");
      if (!view.isForChange) return { ...toPlan("Absent"), needsLook: true };
      return toPlan("Absent", [
        { summary: `create VM ${name}`, kind: "create", name, spec, isNews: true },
      ]);
    }
    const parts = [{ name: "CPUs", wanted: String(spec.cpus), actual: String(found.cpus) }];
    const base = { machine, parts };
    if (found.stage === "ready" && found.cpus === spec.cpus) return { ...toPlan("Ready"), ...base };
    const state = found.stage === "ready" ? "Ready" : "Creating";
    if (!view.isForChange) return { ...toPlan(state), ...base, needsLook: true };
    const kind = NEXT[found.stage];
    const completes = kind === "complete";
    const step = { summary: `${kind} ${name}`, kind, name, spec, completes };
    return { ...toPlan(state, [step]), ...base };
  }

  planRemoval(view: MachinesView, identity: MachineIdentity): MachinePlan<DoubleMachineStep> {
    const name = toMachineName(identity);
    const [machine] = view.machines.get(name) ?? [];
    const found = this.#views.get(view)?.get(name);
    if (machine === undefined || found === undefined) {
      if (view.pools.some(({ isComplete }) => !isComplete)) return toPlan("Unknown");
      return view.isForChange ? toPlan("Absent") : { ...toPlan("Absent"), needsLook: true };
    }
    if (!view.isForChange) return { ...toPlan("Removing"), machine, needsLook: true };
    const kind = found.disks > 0 ? "detach" : "delete";
    return { ...toPlan("Removing", [{ summary: `${kind} ${name}`, kind, name }]), machine };
  }

  async apply(
    step: DoubleMachineStep,
    { record, fence }: MachineStepContext,
    signal: AbortSignal,
  ): Promise<void> {
    this.running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
    try {
      await this.onStep(step);
      if (step.kind === "create" && this.savesRecords) {
        await record.save(`creating ${step.name}`, signal);
      }
      fence.check();
      signal.throwIfAborted();
      this.calls.push(step.summary);
      this.#change(step);
      await this.afterStep(step);
      if (step.kind === "complete" && this.savesRecords) await record.save(undefined, signal);
    } finally {
      this.running -= 1;
    }
  }

  mayGoOn(error: unknown): boolean {
    return !(error instanceof CloudError && error.kind === "unreachable");
  }

  /** What each view was made from. */
  readonly #views = new WeakMap<MachinesView, ReadonlyMap<string, DoubleMachine>>();

  #change({ kind, name, spec }: DoubleMachineStep): void {
    const machine = this.world.get(name);
    if (kind === "create" && spec) {
      // A second machine of a name would be a twin, which must never be.
      if (machine) throw new Error(`${name} was made twice`);
      const { poolId, hostId, cpus } = spec;
      this.#ids += 1;
      const id = `vm-${this.#ids}`;
      this.world.set(name, { id, name, poolId, hostId, stage: "made", cpus, disks: 1 });
      return;
    }
    if (machine === undefined) throw new CloudError("protocol", `${name} does not exist`);
    if (kind === "configure") {
      machine.stage = "configured";
      if (spec?.seed) machine.seed = spec.seed;
    }
    if (kind === "complete") machine.stage = "ready";
    if (kind === "resize" && spec) machine.cpus = spec.cpus;
    if (kind === "detach") machine.disks = 0;
    if (kind === "delete") this.world.delete(name);
  }

  #toView(isForChange: boolean, observedAtMs: number): MachinesView {
    const copies = new Map([...this.world].map(([name, one]) => [name, { ...one }]));
    const view = {
      observedAtMs,
      isForChange,
      pools: this.pools,
      hosts: this.hosts,
      machines: new Map([...copies].map(([name, one]) => [name, [toMachine(one)]])),
      ...(isForChange && { macs: this.macs }),
    };
    this.#views.set(view, copies);
    return view;
  }
}

const NEXT = { made: "configure", configured: "complete", ready: "resize" } as const;

function isWhole({ pools }: MachinesView, poolId: string): boolean {
  return pools.some(({ id, isComplete }) => id === poolId && isComplete);
}

function toPlan(
  state: MachinePlan["state"],
  steps: readonly DoubleMachineStep[] = [],
): MachinePlan<DoubleMachineStep> {
  return { state, steps, problems: [], parts: [] };
}

function toMachine({ id, name, stage, poolId, hostId }: DoubleMachine): Machine {
  return {
    name,
    id,
    isComplete: stage === "ready",
    power: stage === "ready" ? "running" : "stopped",
    firmware: "uefi",
    poolId,
    hostId,
    firstHostId: hostId,
  };
}
