/**
 * A replica with chosen controllers and a Lease of their own.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { MachineManagement } from "../../../lib/cloud/capabilities/machine_management.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import type { ControllerModule, LoadedController } from "../../../lib/controllers/definition.ts";
import type { Process } from "./process.ts";
import { Program, type ProgramOptions, type Running } from "./program.ts";

/** What a replica is part of. */
interface ControllerReplicaOptions extends ProgramOptions {
  readonly controllers: readonly LoadedController[];
  readonly flags: AppOptions["flags"];
  /** Makes the cloud of a process. Absent: no controller needs one. */
  readonly createProvider?: (process: Process, deps: ProviderDeps) => Provider;
}

/** A process and what belongs to it. */
export interface ControllerProcess extends Running {
  /** What clients of its listener for management controllers would reach. Absent: it has none. */
  management?: MachineManagement;
}

/** A replica. */
export class ControllerReplica extends Program<ControllerProcess, ControllerReplicaOptions> {
  protected create(running: Running): ControllerProcess {
    return running;
  }

  protected async run(one: ControllerProcess): Promise<void> {
    const { controllers, flags, createProvider } = this.options;
    const { signal } = one.stop;
    const base = this.toBase(one);
    const provider = createProvider?.(one.process, { ...base, signal });
    const options = {
      ...base,
      ...(provider && { provider }),
      controllers: controllers.map((loaded) => withoutListener(loaded, one)),
      concurrentNodeSyncs: 1,
      flags,
    };
    await runApp(options, signal);
  }
}

/** The controller without its listener, which would open a socket of the machine; what is behind it is kept. */
function withoutListener(
  { definition, module }: LoadedController,
  one: ControllerProcess,
): LoadedController {
  const create: ControllerModule["create"] = (context) => {
    const controller = module.create(context);
    const { managementListener: listener } = controller;
    if (listener === undefined) return controller;
    one.management = listener.management;
    Reflect.deleteProperty(controller, "managementListener");
    return controller;
  };
  return { definition, module: { create } };
}
