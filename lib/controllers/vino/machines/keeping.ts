/**
 * What the machines of a Vino are kept with.
 * @module
 */
import type { Machines, MachineSeed } from "../../../cloud/capabilities/machines.ts";
import type { FleetLimitSettings } from "../../../cloud/deletion/fleet_limit.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Fence } from "../../../core/fence.ts";
import type { AddressDesk, HostDesk } from "../desks.ts";
import type { Role } from "../placement/wishes.ts";
import type { Vino, VinoSpec } from "../resource/vino.ts";
import type { MachinesReport } from "../status/outcome.ts";
import type { MachineTask } from "./book.ts";
import type { Ledger } from "./ledger.ts";
import type { MachineNarrator } from "./narrator.ts";

/** What a keeper of machines needs. */
export interface KeeperOptions {
  readonly clock: Clock;
  readonly machines: Machines;
  /** Of the controller's Lease. */
  readonly fence: Fence;
  readonly addresses: AddressDesk;
  readonly hosts: HostDesk;
  readonly narrator: MachineNarrator;
  /** How many machines of the Vino change at once. */
  readonly machinesMax: number;
  readonly findLimit: () => FleetLimitSettings;
  /** Whether machines have management controllers, so that other programs start them. */
  readonly hasBmc: boolean;
}

/** The Vino as a reconcile sees it. */
export interface KeepInput {
  readonly vino: Vino;
  /** Absent: it wants no machines any more. */
  readonly wish?: { readonly spec: VinoSpec; readonly roles: ReadonlyMap<string, Role> };
  /** Whether machines that are too many are deleted. */
  readonly deletes: boolean;
}

/** What a keeper may do for one Vino while it works. */
export interface KeepContext {
  readonly signal: AbortSignal;
  readonly ledger: Ledger;
  /**
   * Called before anything changes in the cloud, or a BareMetalHost goes.
   *
   * @returns Whether the Vino is as the keeper knows it; if not, nothing may change, and it must look again
   */
  confirm(): Promise<boolean>;
  /**
   * Keeps in the status that machines are not whole any more, so that another process knows it, too.
   *
   * @returns As {@linkcode KeepContext.confirm}
   */
  announce(report: MachinesReport): Promise<boolean>;
  /** What a machine reads at its first start. */
  readSeed(task: MachineTask): Promise<MachineSeed | undefined>;
}
