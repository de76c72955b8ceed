/**
 * Power and boot order of machines in memory.
 * @module
 */
import {
  type BootDevice,
  type MachineInterfaces,
  type MachinePower,
  type MachineReading,
  type PowerAction,
  RefusedPowerError,
} from "../../../lib/cloud/capabilities/machine_power.ts";
import type { Fence } from "../../../lib/core/fence.ts";

/** Those of every machine. */
export const INTERFACES: MachineInterfaces["interfaces"] = [
  { mac: "52:54:00:00:00:01", network: "oam" },
];

/** A machine as it begins: off, and it starts from its disk. */
export function makeMachine(id: string, more: Partial<MachineReading> = {}): MachineReading {
  return {
    id,
    name: `vino-1b4e28ba-worker-${id}`,
    power: "stopped",
    isGraceful: false,
    bootOrder: ["disk", "cd"],
    firmware: "uefi",
    cpus: 2,
    memoryBytes: 4 * 2 ** 30,
    ...more,
  };
}

/** A cloud in memory. It does everything at once, in the order of the calls. */
export class MachinePowerDouble implements MachinePower {
  readonly machines: Map<string, MachineReading>;
  /** What each start began with: `a network`. */
  readonly starts: string[] = [];
  /** The calls that change something, in order. */
  readonly calls: string[] = [];
  /** Runs before and after each call; throws to break it. */
  onCall: (call: string, when: "before" | "after") => void = () => {};
  /** Whether it says when a machine was started. */
  knowsStarts = true;
  #clockMs = 1_000;

  constructor(machines: readonly MachineReading[] = [makeMachine("a")]) {
    this.machines = new Map(machines.map((one) => [one.id, one]));
  }

  /** The machine, which must exist. */
  get(id: string): MachineReading {
    const machine = this.machines.get(id);
    if (machine === undefined) throw new Error(`there is no machine ${id}`);
    return machine;
  }

  /** Starts a machine that is off or runs, as its guest or a person may do. */
  start(id: string): void {
    const machine = this.get(id);
    this.#clockMs += 1_000;
    this.starts.push(`${id} ${machine.bootOrder[0]}`);
    const startedAtMs = this.knowsStarts ? { startedAtMs: this.#clockMs } : {};
    this.machines.set(id, { ...machine, power: "running", ...startedAtMs });
  }

  /** Switches a machine off. */
  stop(id: string): void {
    const { startedAtMs: _gone, ...machine } = this.get(id);
    this.machines.set(id, { ...machine, power: "stopped" });
  }

  read(id: string): Promise<MachineReading | undefined> {
    return this.#call(`read ${id}`, () => this.machines.get(id));
  }

  readName(id: string): Promise<string | undefined> {
    return this.#call(`read name ${id}`, () => this.machines.get(id)?.name);
  }

  readInterfaces(id: string): Promise<MachineInterfaces | undefined> {
    return this.#call(`read interfaces ${id}`, () => {
      const name = this.machines.get(id)?.name;
      return name === undefined ? undefined : { name, interfaces: INTERFACES };
    });
  }

  act(id: string, action: PowerAction, fence: Fence): Promise<void> {
    fence.check();
    return this.#call(`${action} ${id}`, () => {
      const { power, isGraceful } = this.get(id);
      if (action.startsWith("graceful") && !isGraceful) {
        throw new RefusedPowerError("notGraceful", "The guest has no tools; use ForceOff");
      }
      if (action === "restart" && power !== "running") {
        throw new RefusedPowerError("state", "The machine is off");
      }
      if (action === "off" || action === "gracefulOff") this.stop(id);
      else if (action !== "on" || power !== "running") this.start(id);
    });
  }

  setBootOrder(id: string, order: readonly BootDevice[], fence: Fence): Promise<void> {
    fence.check();
    return this.#call(`order ${id} ${order.join()}`, () => {
      this.machines.set(id, { ...this.get(id), bootOrder: order });
    });
  }

  setFirmware(id: string, firmware: "bios" | "uefi", fence: Fence): Promise<void> {
    fence.check();
    return this.#call(`firmware ${id} ${firmware}`, () => {
      if (this.get(id).power !== "stopped") throw new RefusedPowerError("state", "It is not off");
      this.machines.set(id, { ...this.get(id), firmware });
    });
  }

  async #call<T>(call: string, work: () => T): Promise<T> {
    if (!call.startsWith("read")) this.calls.push(call);
    await Promise.resolve();
    this.onCall(call, "before");
    const result = work();
    this.onCall(call, "after");
    return result;
  }
}
