/**
 * The two processes of a run, started, asked and ended.
 * @module
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../test/support/server_process.ts";
import type { LifeFigures } from "./experiments.ts";
import type { Places, Progress } from "./simulators.ts";

const ROOT = join(import.meta.dir, "..");
const SIMULATORS_START_MS = 30_000;
const ANSWER_MS = 30_000;
const EXPERIMENTS_MS = 300_000;
const STOP_MS = 15_000;
const PROBE_GAP_MS = 1;

type Question = "register" | "heartbeats" | "progress" | "experiments";

/** Memory of a process in MiB. */
export interface Memory {
  readonly resident: number;
  readonly anonymous: number;
  /** Most that was resident so far. */
  readonly peak: number;
}

/** Simulators in a process of their own. */
export class Simulators implements AsyncDisposable {
  readonly places: Places;
  readonly #ask: (question: Question) => Promise<unknown>;
  readonly #stop: () => Promise<void>;

  private constructor(
    places: Places,
    ask: (question: Question) => Promise<unknown>,
    stop: () => Promise<void>,
  ) {
    this.places = places;
    this.#ask = ask;
    this.#stop = stop;
  }

  /** Starts simulators with so many machines and no Nodes. */
  static async start(machines: number): Promise<Simulators> {
    const waiting: ((message: unknown) => void)[] = [];
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "simulators.ts"), `${machines}`],
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
      return next(question === "experiments" ? EXPERIMENTS_MS : ANSWER_MS);
    };
    const places = await next(SIMULATORS_START_MS);
    return new Simulators(places as Places, ask, () => endChild(child));
  }

  /** All machines register as Nodes at once. */
  async register(): Promise<Progress> {
    return (await this.#ask("register")) as Progress;
  }

  /** From now on every kubelet says now and then that it is well. */
  async startHeartbeats(): Promise<void> {
    await this.#ask("heartbeats");
  }

  async progress(): Promise<Progress> {
    return (await this.#ask("progress")) as Progress;
  }

  /** Machines move, stop and vanish. */
  async experiment(): Promise<LifeFigures> {
    return (await this.#ask("experiments")) as LifeFigures;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

/** The compiled controller, running. */
export class Controller implements AsyncDisposable {
  /** When it was started, by `performance.now()`. */
  readonly startedAtMs: number = performance.now();
  readonly #child: Bun.Subprocess;
  readonly #folder: string;

  private constructor(child: Bun.Subprocess, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** Starts `binary run` against simulators. */
  static async start(binary: string, places: Places): Promise<Controller> {
    const folder = await mkdtemp(join(tmpdir(), "landfall-bench-"));
    const kubeconfig = join(folder, "kubeconfig");
    const cloudConfig = join(folder, "cloud.yaml");
    await writeFile(kubeconfig, toKubeconfig(places.kubernetesUrl));
    await writeFile(cloudConfig, `url: ${places.cloudUrl}\ntoken: ${places.token}\n`);
    const flags = [
      `--kubeconfig=${kubeconfig}`,
      "--cloud-provider=xenorchestra",
      `--cloud-config=${cloudConfig}`,
      `--debug-address=${join(folder, "socket")}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${await findFreePort()}`,
    ];
    const child = Bun.spawn([binary, "run", ...flags], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))],
    });
    return new Controller(child, folder);
  }

  /** Resolves with the seconds from the start until a probe says yes. */
  async untilProbe(path: "/livez" | "/readyz", timeoutMs: number): Promise<number> {
    while (performance.now() - this.startedAtMs < timeoutMs) {
      if (this.#child.exitCode !== null) break;
      const isOk = await this.#probe(path);
      if (isOk) return (performance.now() - this.startedAtMs) / 1_000;
      await Bun.sleep(PROBE_GAP_MS);
    }
    const log = await readFile(join(this.#folder, "log"), "utf8").catch(() => "");
    throw new Error(`the controller does not answer ${path}: ${log.slice(-2_000)}`);
  }

  async #probe(path: string): Promise<boolean> {
    try {
      const unix = join(this.#folder, "socket");
      const reply = await fetch(`http://localhost${path}`, { unix, keepalive: false });
      await reply.text();
      return reply.ok;
    } catch {
      return false;
    }
  }

  async readMemory(): Promise<Memory> {
    const text = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    const read = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN) / 1024;
    return { resident: read("VmRSS"), anonymous: read("RssAnon"), peak: read("VmHWM") };
  }

  /** Processor time so far in seconds, user and system. */
  async readCpu(): Promise<number> {
    const text = await readFile(`/proc/${this.#child.pid}/stat`, "utf8");
    // After the name in brackets, which may hold blanks: fields 14 and 15, in hundredths.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endChild(this.#child);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Rejects when a promise takes longer than that. */
async function withTimeout<T>(promise: Promise<T>, ms: number, problem: string): Promise<T> {
  const late = Bun.sleep(ms).then(() => {
    throw new Error(`${problem} within ${ms / 1_000} s`);
  });
  return await Promise.race([promise, late]);
}

async function endChild(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const ended = await Promise.race([child.exited, Bun.sleep(STOP_MS).then(() => undefined)]);
  if (ended === undefined) child.kill("SIGKILL");
  await child.exited;
}

function toKubeconfig(server: string): string {
  return `apiVersion: v1
kind: Config
current-context: bench
clusters: [{ name: bench, cluster: { server: "${server}" } }]
users: [{ name: bench, user: {} }]
contexts: [{ name: bench, context: { cluster: bench, user: bench } }]
`;
}
