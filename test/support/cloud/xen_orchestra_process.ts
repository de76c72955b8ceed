/**
 * A simulated Xen Orchestra in a process of its own, which may be killed: what is true of the machines is kept here.
 * @module
 */
import { systemClock } from "../../../lib/core/clock.ts";
import { type World, startXenOrchestraSimulator } from "../../../lib/simulator/xenorchestra/mod.ts";
import { copy } from "../../../lib/simulator/xenorchestra/world/cache.ts";
import {
  COLLECTIONS,
  isCollection,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/records.ts";
import {
  type RestartOptions,
  XenOrchestraState,
} from "../../../lib/simulator/xenorchestra/state.ts";
import { findFreePort } from "../process/server_process.ts";

const START_MS = 30_000;

/** A Xen Orchestra that outlives its process. */
export class XenOrchestraProcess {
  /** What is true, whatever the process shows or whether there is one. */
  readonly #truth: XenOrchestraState;
  readonly #port: number;
  #child: Bun.Subprocess | undefined;
  #listening: Listening = { url: "", token: "" };
  readonly #kill = (): void => this.#child?.kill("SIGKILL");

  private constructor(world: World, port: number) {
    this.#port = port;
    this.#truth = new XenOrchestraState(systemClock, world);
    process.once("exit", this.#kill);
  }

  /** Resolves once it answers. */
  static async start(world: World): Promise<XenOrchestraProcess> {
    const made = new XenOrchestraProcess(world, await findFreePort());
    await made.start();
    return made;
  }

  /** `http://127.0.0.1:<port>`; stays the same over restarts. */
  get url(): string {
    return this.#listening.url;
  }

  get token(): string {
    return this.#listening.token;
  }

  /** A virtual machine as it is; absent once it is deleted. */
  findVm(vmId: string): XoRecord | undefined {
    return this.#truth.all("vms").get(vmId);
  }

  /** Lets something happen: here, and in the process if there is one. */
  happen<H extends Happening>(name: H, ...args: Parameters<XenOrchestraState[H]>): void {
    applyChange(this.#truth, [name, ...args]);
    this.#child?.send([name, ...args]);
  }

  /** Starts a process with all that is true. @param loading How slowly its pools load. @default {they are there} */
  async start(loading?: RestartOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<Listening>();
    const child = Bun.spawn([process.execPath, import.meta.path], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (message: Listening) => resolve(message),
    });
    const port = this.#port;
    // From here on it is told of what happens, in order.
    child.send({ world: this.#toWorld(), port, ...(loading && { loading }) } satisfies Beginning);
    this.#child = child;
    const gone = child.exited.then((code) => {
      throw new Error(`Xen Orchestra ended with ${code} before it listened`);
    });
    const late = Bun.sleep(START_MS).then(() => {
      throw new Error("Xen Orchestra does not start");
    });
    gone.catch(() => undefined);
    late.catch(() => undefined);
    this.#listening = await Promise.race([promise, gone, late]);
  }

  /** Ends the process, at once. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
    await child?.exited;
  }

  /** Freezes or thaws the process. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(name);
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    process.off("exit", this.#kill);
    await this.kill();
  }

  #toWorld(): World {
    const names = Object.keys(COLLECTIONS).filter((name) => isCollection(name));
    return Object.fromEntries(
      names.map((name) => [name, Array.from(this.#truth.all(name).values(), copy)]),
    );
  }
}

/** What can happen in a world. */
type Happening =
  | "addVm"
  | "removeVm"
  | "setVm"
  | "setPower"
  | "beginMigration"
  | "migrateLive"
  | "migratePool"
  | "dropPool";

/** What a parent says first. */
interface Beginning {
  readonly world: World;
  readonly port: number;
  /** How slowly its pools load; absent: they are there at once. */
  readonly loading?: RestartOptions;
}

/** What a parent says later on. */
type Change = readonly [Happening, ...args: readonly unknown[]];

/** What the process says when it listens. */
interface Listening {
  readonly url: string;
  readonly token: string;
}

/** Lets something happen in a state. */
function applyChange(state: XenOrchestraState, [name, ...args]: Change): void {
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
