/**
 * What works on the machines of Vinos.
 * @module
 */
import type { Machines, MachineSeed } from "../../../cloud/capabilities/machines.ts";
import type { FleetLimitSettings } from "../../../cloud/deletion/fleet_limit.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Fence } from "../../../core/fence.ts";
import type { AddressAllocator } from "../addresses/types.ts";
import type { BareMetalHosts } from "../hosts/publish/host_publisher.ts";
import type { Vino } from "../resource/vino.ts";
import type { MachineTask } from "./steps/tasks.ts";
import type { MachineEvents } from "./events.ts";
import type { VinoMachines } from "./vino_machines.ts";

/** What the work on machines needs. */
export interface MachineReconcilerOptions {
  readonly clock: Clock;
  readonly machines: Machines;
  readonly objects: VinoMachines;
  /** Of the controller's Lease. */
  readonly fence: Fence;
  readonly addresses: AddressAllocator;
  readonly hosts: BareMetalHosts;
  readonly machineEvents: MachineEvents;
  /** How many machines of the Vino change at once. */
  readonly machinesMax: number;
  readonly findLimit: () => FleetLimitSettings;
  /** Whether a namespace is being deleted with all that is in it. @throws {KubeError} if that is not known */
  readonly isNamespaceEnding: (name: string, signal: AbortSignal) => Promise<boolean>;
  /** Whether machines have management controllers, so that other programs start them. */
  readonly hasBmc: boolean;
  /** What a machine reads at its first start. */
  readonly readSeed: (
    vino: Vino,
    task: MachineTask,
    signal: AbortSignal,
  ) => Promise<MachineSeed | undefined>;
}

/** What `DesiredMachines` may do for their Vino while they decide. */
export interface ReconcileContext {
  readonly signal: AbortSignal;
  /**
   * Called before anything changes in the cloud, or a BareMetalHost goes.
   *
   * @returns Whether the Vino is as the reconciler knows it; if not, nothing may change, and it must look again
   */
  confirm(): Promise<boolean>;
}
