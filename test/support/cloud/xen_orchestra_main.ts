/**
 * The process of a simulated Xen Orchestra, steered by its parent: the world first, then what happens in it.
 *
 * It says where it listens once it does, and ends when its parent goes.
 * @module
 */
import { systemClock } from "../../../lib/core/clock.ts";
import type { World } from "../../../lib/simulator/xenorchestra/mod.ts";
import { startXenOrchestraSimulator } from "../../../lib/simulator/xenorchestra/mod.ts";
import type {
  RestartOptions,
  XenOrchestraState,
} from "../../../lib/simulator/xenorchestra/state.ts";

/** What can happen in a world. */
export type Happening =
  | "addVm"
  | "removeVm"
  | "setVm"
  | "setPower"
  | "beginMigration"
  | "migrateLive"
  | "migratePool"
  | "dropPool";

/** What a parent says first. */
export interface Beginning {
  readonly world: World;
  readonly port: number;
  /** How slowly its pools load; absent: they are there at once. */
  readonly loading?: RestartOptions;
}

/** What a parent says later on. */
type Change = readonly [Happening, ...args: readonly unknown[]];

/** What the process says when it listens. */
export interface Listening {
  readonly url: string;
  readonly token: string;
}

/** Lets something happen in a state. */
export function applyChange(state: XenOrchestraState, [name, ...args]: Change): void {
  Reflect.apply(state[name], state, args);
}

async function serve({ world, port, loading }: Beginning): Promise<XenOrchestraState> {
  const simulator = await startXenOrchestraSimulator({ clock: systemClock, world, port });
  if (loading !== undefined) simulator.state.restart(loading);
  const { url, token, state } = simulator;
  process.send?.({ url, token } satisfies Listening);
  return state;
}

if (import.meta.main) {
  let state: Promise<XenOrchestraState> | undefined;
  process.on("message", (message: Beginning | Change) => {
    if ("world" in message) state = serve(message);
    // In the order of the messages, which may come before it listens.
    else void state?.then((known) => applyChange(known, message));
  });
  process.on("disconnect", () => process.exit(0));
}
