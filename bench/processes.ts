/**
 * The process of the simulators: started, asked and ended.
 * @module
 */
import { join } from "node:path";
import type { CloudName } from "./clouds/mod.ts";
import type { ActName, ActResult } from "./soak/acts.ts";
import type { LifeFigures, MoveFigures } from "./experiments.ts";
import type { BalancerProgress, Places, Progress, Question } from "./simulators.ts";
import type { ServiceOptions } from "./stage.ts";

const START_MS = 30_000;
const ANSWER_MS = 30_000;
const EXPERIMENTS_MS = 300_000;
const STOP_MS = 15_000;

/** Simulators in a process of their own. */
export class Simulators implements AsyncDisposable {
  readonly places: Places;
  readonly #ask: (question: Question) => Promise<unknown>;
  readonly #stop: () => Promise<unknown>;

  private constructor(
    places: Places,
    ask: (question: Question) => Promise<unknown>,
    stop: () => Promise<unknown>,
  ) {
    this.places = places;
    this.#ask = ask;
    this.#stop = stop;
  }

  /** Starts simulators with this many machines and no Nodes. @param cloud Which cloud has the machines */
  static async start(machines: number, cloud: CloudName = "xenorchestra"): Promise<Simulators> {
    const waiting: ((message: unknown) => void)[] = [];
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "simulators.ts"), cloud, `${machines}`],
      {
        stdio: ["ignore", "inherit", "inherit"],
        ipc: (message: unknown) => waiting.shift()?.(message),
      },
    );
    const next = (ms: number): Promise<unknown> => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.push(resolve);
      return withTimeout(promise, ms, "the simulators do not answer");
    };
    const ask = (question: Question): Promise<unknown> => {
      child.send(question);
      const isLong = question.ask === "experiments" || question.ask === "move";
      return next(isLong ? EXPERIMENTS_MS : ANSWER_MS);
    };
    const places = await next(START_MS);
    return new Simulators(places as Places, ask, () => endChild(child, STOP_MS));
  }

  /** All machines register as Nodes at once. */
  async register(): Promise<Progress> {
    return (await this.#ask({ ask: "register" })) as Progress;
  }

  /** Makes Services of type LoadBalancer at once. */
  async createServices(options: ServiceOptions): Promise<Progress> {
    return (await this.#ask({ ask: "services", ...options })) as Progress;
  }

  /** Installs the kinds of Vinos, and adds a pool in which machines can be made. */
  async prepareVinos(): Promise<void> {
    await this.#ask({ ask: "vinos" });
  }

  /** Creates a Vino that wants so many machines, or changes how many it wants. */
  async wantMachines(count: number): Promise<Progress> {
    return (await this.#ask({ ask: "machines", count })) as Progress;
  }

  /** Labels the first Node so that no load balancer sends traffic to it, or removes the label. */
  async exclude(isOut: boolean): Promise<void> {
    await this.#ask({ ask: "exclude", isOut });
  }

  /** What CloudStack has for Services. */
  async balancers(): Promise<BalancerProgress> {
    return (await this.#ask({ ask: "balancers" })) as BalancerProgress;
  }

  /** From now on every kubelet reports once in this many milliseconds that it is well. */
  async startHeartbeats(periodMs: number): Promise<void> {
    await this.#ask({ ask: "heartbeats", periodMs });
  }

  /** From now on no kubelet reports. */
  async stopHeartbeats(): Promise<void> {
    await this.#ask({ ask: "heartbeats", periodMs: undefined });
  }

  /** State of things. */
  async progress(): Promise<Progress> {
    return (await this.#ask({ ask: "progress" })) as Progress;
  }

  /** Moves, stops and deletes machines. */
  async experiment(): Promise<LifeFigures> {
    return (await this.#ask({ ask: "experiments" })) as LifeFigures;
  }

  /** Machines move to other hosts, evenly over a time. */
  async move(count: number, overMs: number): Promise<MoveFigures> {
    return (await this.#ask({ ask: "move", count, overMs })) as MoveFigures;
  }

  /** Runs one act. @param pick From 0 up to 1: chooses the machine, and how */
  async act(act: ActName, pick: number): Promise<ActResult> {
    return (await this.#ask({ ask: "act", act, pick })) as ActResult;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** Ends a process with SIGTERM; its exit code, or `undefined` when it had to be killed after `ms`. */
export async function endChild(child: Bun.Subprocess, ms: number): Promise<number | undefined> {
  child.kill("SIGTERM");
  const code = await Promise.race([child.exited, Bun.sleep(ms).then(() => undefined)]);
  if (code === undefined) child.kill("SIGKILL");
  await child.exited;
  return code;
}

/** Rejects when a promise takes longer. */
async function withTimeout<T>(promise: Promise<T>, ms: number, problem: string): Promise<T> {
  const late = Bun.sleep(ms).then(() => {
    throw new Error(`${problem} within ${ms / 1_000} s`);
  });
  return await Promise.race([promise, late]);
}
