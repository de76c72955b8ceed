/**
 * A simulated Xen Orchestra in a process of its own, which may be killed: what is true of the machines is kept here.
 * @module
 */
import { join } from "node:path";
import { systemClock } from "../../../lib/core/clock.ts";
import type { World } from "../../../lib/simulator/xenorchestra/mod.ts";
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
import {
  applyChange,
  type Beginning,
  type Happening,
  type Listening,
} from "./xen_orchestra_main.ts";
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
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "xen_orchestra_main.ts")], {
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
