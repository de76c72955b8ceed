/**
 * The compiled controller as a process.
 * @module
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../test/support/process/server_process.ts";
import { CLOUDS } from "./clouds/mod.ts";
import { type Holdings, readCpu, readHoldings } from "./meters/proc.ts";
import { endChild } from "./processes.ts";
import type { Places } from "./simulators.ts";

const ROOT = join(import.meta.dir, "..");
const PROBE_GAP_MS = 1;
const STOP_MS = 15_000;
/**
 * Runs a program like systemd with `MemoryDenyWriteExecute`: prctl(PR_SET_MDWE,
 * PR_MDWE_REFUSE_EXEC_GAIN), which child processes inherit.
 */
const DENY = ["perl", "-e", "syscall(157, 65, 1, 0, 0, 0) == 0 or die $!; exec @ARGV or die $!"];

/** As in deploy/systemd: the program cannot set this by restarting itself, because it would not start. */
const UNIT_ENVIRONMENT = {
  BUN_JSC_useJIT: "0",
  BUN_GC_TIMER_DISABLE: "1",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};

/** On a busy machine simulators may be slow; a replica that loses the Lease exits, and the measurement ends. */
const PATIENCE = ["--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=45s"];

/** How to start it. */
interface ControllerOptions {
  readonly binary: string;
  readonly places: Places;
  /** Whether no memory may be both written and executed. @default {false} */
  readonly denyWriteExecute?: boolean;
  /** More lines of its cloud settings. @default {none} */
  readonly lines?: string;
  /** More flags. @default {none} */
  readonly flags?: readonly string[];
}

/** The compiled controller, running. */
export class Controller implements AsyncDisposable {
  /** When it was started, by `performance.now()`. */
  readonly startedAtMs: number = performance.now();
  readonly #child: Bun.Subprocess;
  readonly #folder: string;
  readonly #kill = (): void => this.#child.kill("SIGKILL");

  private constructor(child: Bun.Subprocess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    // It must not outlive the benchmark.
    process.once("exit", this.#kill);
  }

  /** Starts `binary run` against simulators. */
  static async start(options: ControllerOptions): Promise<Controller> {
    const { binary, places, denyWriteExecute = false, lines = "", flags: more = [] } = options;
    const folder = await mkdtemp(join(tmpdir(), "landfall-bench-"));
    await writeFile(join(folder, "kubeconfig"), toKubeconfig(places.kubernetesUrl));
    const { provider, file, toSettings } = CLOUDS[places.cloud];
    for (const [name, secret] of Object.entries(places.secrets)) {
      await writeFile(join(folder, name), secret);
    }
    await writeFile(join(folder, file), `${toSettings(places.cloudUrl, folder)}${lines}`);
    const flags = [
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      `--cloud-provider=${provider}`,
      `--cloud-config=${join(folder, file)}`,
      `--debug-address=${join(folder, "socket")}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${await findFreePort()}`,
      "--logging-format=json",
      ...PATIENCE,
      ...more,
    ];
    const command = [...(denyWriteExecute ? DENY : []), binary, "run", ...flags];
    const child = Bun.spawn(command, {
      cwd: ROOT,
      env: { ...process.env, ...(denyWriteExecute ? UNIT_ENVIRONMENT : {}) },
      stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))],
    });
    return new Controller(child, folder);
  }

  /** Exit code; `null` while it runs. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Resolves with the seconds from the start until a probe succeeds. */
  async untilProbe(path: "/livez" | "/readyz", timeoutMs: number): Promise<number> {
    while (performance.now() - this.startedAtMs < timeoutMs) {
      if (this.#child.exitCode !== null) break;
      const reply = await this.get(path);
      if (reply !== undefined) return (performance.now() - this.startedAtMs) / 1_000;
      await Bun.sleep(PROBE_GAP_MS);
    }
    const log = await this.readLog();
    throw new Error(`the controller does not answer ${path}: ${log.slice(-2_000)}`);
  }

  /** The text at a path of its debug listener; `undefined` unless the status is 200. */
  async get(path: string): Promise<string | undefined> {
    try {
      const unix = join(this.#folder, "socket");
      const reply = await fetch(`http://localhost${path}`, { unix, keepalive: false });
      const text = await reply.text();
      return reply.ok ? text : undefined;
    } catch {
      return undefined;
    }
  }

  /** Its whole log, one JSON record a line. */
  async readLog(): Promise<string> {
    return await readFile(join(this.#folder, "log"), "utf8").catch(() => "");
  }

  /** Its memory now. */
  readHoldings(): Promise<Holdings> {
    return readHoldings(this.#child.pid);
  }

  /** Processor time so far in seconds, user and system. */
  readCpu(): Promise<number> {
    return readCpu(this.#child.pid);
  }

  /** Changes its cloud settings. @param lines More lines of the file */
  async configure({ cloud, cloudUrl }: Places, lines: string): Promise<void> {
    const { file, toSettings } = CLOUDS[cloud];
    await writeFile(join(this.#folder, file), `${toSettings(cloudUrl, this.#folder)}${lines}`);
  }

  /** Changes its token for Xen Orchestra. */
  async giveToken(token: string): Promise<void> {
    await writeFile(join(this.#folder, "token"), token);
  }

  /** Ends it with SIGTERM; the exit code, or `undefined` when it had to be killed. */
  async stop(): Promise<number | undefined> {
    const code = await endChild(this.#child, STOP_MS);
    process.off("exit", this.#kill);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
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
