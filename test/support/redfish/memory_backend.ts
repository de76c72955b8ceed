/**
 * Machines in memory, behind a Redfish service.
 * @module
 */
import type {
  ManagementAnswer,
  MachineCredentials,
  BootOverrideChange,
  MachineManagement,
  ManagedReading,
} from "../../../lib/cloud/capabilities/machine_management.ts";
import type {
  MachineInterface,
  PowerAction,
} from "../../../lib/cloud/capabilities/machine_power.ts";

/** A machine with its user and password. */
export interface MemorySystem extends ManagedReading {
  readonly credentials: MachineCredentials;
  readonly interfaces: readonly MachineInterface[];
}

/** A machine that is off, with user and password of its own. */
export function makeSystem(id: string, more: Partial<MemorySystem> = {}): MemorySystem {
  return {
    id,
    name: `vm-${id}`,
    power: "stopped",
    isGraceful: true,
    boot: { duration: "never" },
    firmware: "uefi",
    firmwares: ["uefi"],
    cpus: 4,
    memoryBytes: 8 * 2 ** 30,
    interfaces: [{ mac: "52:54:00:00:00:01", network: "oam" }, { mac: "52:54:00:00:00:02" }],
    credentials: { username: `user-${id}`, password: `password-${id}` },
    ...more,
  };
}

/** A cloud in memory. */
export class MemoryBackend implements MachineManagement {
  readonly systems: Map<string, MemorySystem>;
  /** What was asked for, in order: `a on`. */
  readonly asked: string[] = [];
  isLeader = true;
  /** The answer to every change, in place of doing it. */
  refusal: Exclude<ManagementAnswer<never>, { kind: "done" }> | undefined;
  /** Whether nothing is answered at all. */
  isStuck = false;

  constructor(systems: readonly MemorySystem[]) {
    this.systems = new Map(systems.map((one) => [one.id, one]));
  }

  isLeading(): boolean {
    return this.isLeader;
  }

  findSystems(
    { username, password }: MachineCredentials,
    _signal: AbortSignal,
    askedId?: string,
  ): Promise<ManagementAnswer<readonly string[]>> {
    const own = [...this.systems.values()].filter(
      ({ id, credentials }) =>
        credentials.username === username &&
        credentials.password === password &&
        (askedId === undefined || askedId === id),
    );
    return this.#answer(own.map(({ id }) => id));
  }

  read(id: string): Promise<ManagementAnswer<ManagedReading | undefined>> {
    return this.#answer(this.systems.get(id));
  }

  readInterfaces(id: string): Promise<ManagementAnswer<readonly MachineInterface[] | undefined>> {
    return this.#answer(this.systems.get(id)?.interfaces);
  }

  reset(id: string, action: PowerAction): Promise<ManagementAnswer<void>> {
    return this.#change(id, `${id} ${action}`, (system) => ({ ...system, ...POWER[action] }));
  }

  setBoot(id: string, change: BootOverrideChange): Promise<ManagementAnswer<void>> {
    return this.#change(id, `${id} ${JSON.stringify(change)}`, (system) => {
      const { device = system.boot.device, duration = system.boot.duration } = change;
      const isOver = device === undefined || device === "none" || duration === "never";
      return { ...system, boot: isOver ? { duration: "never" } : { device, duration } };
    });
  }

  async #change(
    id: string,
    asked: string,
    toNext: (system: MemorySystem) => MemorySystem,
  ): Promise<ManagementAnswer<void>> {
    this.asked.push(asked);
    const system = this.systems.get(id);
    if (this.refusal) return this.refusal;
    if (system) this.systems.set(id, toNext(system));
    return await this.#answer(undefined);
  }

  #answer<T>(value: T): Promise<ManagementAnswer<T>> {
    return this.isStuck ? new Promise(() => {}) : Promise.resolve({ kind: "done", value });
  }
}

/** A system that starts uses up its override. */
const STARTED = { power: "running", boot: { duration: "never" } } as const;
const POWER: Readonly<Record<PowerAction, Partial<MemorySystem>>> = {
  on: STARTED,
  restart: STARTED,
  gracefulRestart: STARTED,
  cycle: STARTED,
  off: { power: "stopped" },
  gracefulOff: { power: "stopped" },
  pause: { power: "paused" },
  resume: { power: "running" },
};
