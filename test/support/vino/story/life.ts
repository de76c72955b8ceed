/**
 * The whole life of a machine on simulated servers, made and removed by real processes that can be killed.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IP_POOLS, type IpPool } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import {
  type Vino,
  type VinoSpec,
  VINOES,
} from "../../../../lib/controllers/vino/resource/vino.ts";
import { CONFIRMED_REMOVAL } from "../../../../lib/controllers/vino/words.ts";
import { VINO_MACHINES } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../../lib/simulator/kubernetes/mod.ts";
import { collectGarbage } from "../../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import { BARE_METAL_HOST } from "../../../../lib/simulator/metal3/kinds.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import { Watcher } from "../../../simulation/vino/judges/watcher.ts";
import { until } from "../../nodes/rig.ts";
import {
  killAll,
  type LandfallProcess,
  type Program,
  SHORT_LEASES,
  startLandfall,
} from "../../process/landfall_process.ts";
import { METAL } from "../stage.ts";
import { toXenOrchestraSpec } from "../xen_orchestra_stage.ts";
import { StoryCloud } from "./cloud.ts";

/** What dies when a hypervisor works on a call. */
export type Victim = "landfall" | "xo-server";

/** Something dies once. */
export interface Death {
  readonly victim: Victim;
  /** The call of a hypervisor, counted from 1, during which it dies. */
  readonly at: number;
}

/** What is found at the end of a life. */
interface LifeEnd {
  /** The calls that hypervisors got, as in `VM.clone`. */
  readonly calls: readonly string[];
  /** VMs while the machine should run. */
  readonly running: readonly string[];
  /** What must not happen in the cloud, and did. */
  readonly violations: readonly string[];
  /**
   * Whether the Vino still waits in the end, with an address and the object of the machine: an upload was interrupted,
   * and for two minutes the cloud may show something of it.
   */
  readonly waits: boolean;
  /** What is left of the machine in the cloud and in Kubernetes, and what of others was changed. */
  readonly left: readonly string[];
}

const NAME = { namespace: METAL, name: "edge" };
/** A request that xo-server never answers is given up after two minutes. */
const STEP_MS = 200_000;
const GARBAGE_MS = 50;
/** So slow that a creation still goes on when the next process leads. */
const OPERATION_MS = 400;
/** As late as reads of a real xo-server were at most, always. */
const LARGEST_LAG = { minMs: 250, maxMs: 250, seed: 1 };
const toSpec = (machines: number): VinoSpec =>
  toXenOrchestraSpec(machines, { deletionPolicy: "Delete" });
const MAY_LEAVE = "may still leave something";
const ADDRESS = toSpec(1).networks?.[0]?.staticAllocationStart;
const MACHINE = `${VINO_MACHINES.plural}/edge-worker-0`;

/** Lives it once: a Vino is created, becomes ready, is deleted, and is gone. */
export async function live(program: Program, death?: Death): Promise<LifeEnd> {
  await using life = await Life.begin(program, await StoryCloud.start(OPERATION_MS), death);
  return await life.tell(1);
}

/** The same of many machines, while reads are late. */
export async function liveTogether(program: Program, machines: number): Promise<LifeEnd> {
  await using life = await Life.begin(program, await StoryCloud.start(undefined, LARGEST_LAG));
  return await life.tell(machines);
}

class Life implements AsyncDisposable {
  readonly #program: Program;
  readonly #kubernetes: KubernetesSimulator;
  readonly #cloud: StoryCloud;
  readonly #watcher: Watcher;
  readonly #before: ReadonlySet<string>;
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #timer: ReturnType<typeof setInterval>;
  #landfall: LandfallProcess | undefined;
  #again: Promise<void> | undefined;

  private constructor(program: Program, cloud: StoryCloud, folder: string) {
    this.#program = program;
    this.#kubernetes = startKubernetesSimulator({ clock: systemClock });
    this.#cloud = cloud;
    this.#watcher = new Watcher(cloud.simulator.cloud);
    this.#before = new Set(cloud.readObjects().keys());
    this.#folder = folder;
    this.#args = [
      "--cloud-provider=xenorchestra",
      "--controllers=vino",
      `--cloud-config=${join(folder, "cloud.yaml")}`,
      `--master=${this.#kubernetes.url}`,
      "--secure-port=0",
      "--debug-address=",
      "--logging-format=json",
      // A process that starts again waits for the Lease of the one that was killed.
      ...SHORT_LEASES,
    ];
    this.#timer = setInterval(() => collectGarbage(this.#kubernetes.objects), GARBAGE_MS);
  }

  static async begin(program: Program, cloud: StoryCloud, death?: Death): Promise<Life> {
    const folder = await mkdtemp(join(tmpdir(), "landfall-life-"));
    const life = new Life(program, cloud, folder);
    await life.#prepare();
    if (death !== undefined) life.#plan(death);
    life.#start();
    return life;
  }

  async tell(machines: number): Promise<LifeEnd> {
    const spec = JSON.parse(JSON.stringify(toSpec(machines)));
    const { objects } = this.#kubernetes;
    objects.create(VINOES.plural, { metadata: NAME, spec });
    await this.#until("the Vino is ready", () => this.#isReady());
    const running = this.#cloud.listVms();
    objects.delete(VINOES.plural, NAME);
    const generation = String(this.#read()?.metadata.generation);
    objects.patch(VINOES.plural, NAME, {
      metadata: { annotations: { [CONFIRMED_REMOVAL]: generation } },
    });
    await this.#until("the Vino is gone", () => this.#read() === undefined || this.#waits);
    await this.#again;
    // It may have gone on while xo-server began again.
    let waits = false;
    await this.#until("the Vino is gone, or waits", () => {
      waits = this.#waits;
      return waits || this.#read() === undefined;
    });
    const waiting = waits ? [ADDRESS, MACHINE] : [];
    return {
      calls: this.#journal.map(({ method }) => method),
      running,
      violations: this.#watcher.violations,
      waits,
      left: this.#listLeft().filter((one) => !waiting.includes(one)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#again?.catch(() => undefined);
    await killAll(this.#landfall ? [this.#landfall] : []);
    await Promise.all([
      this.#cloud.simulator.stop(),
      this.#kubernetes.stop(),
      rm(this.#folder, { recursive: true }),
    ]);
  }

  get #journal(): readonly Journaled[] {
    return this.#cloud.simulator.cloud.hypervisor.journal;
  }

  async #prepare(): Promise<void> {
    for (const kind of [BARE_METAL_HOST, VINOES, VINO_MACHINES, IP_POOLS])
      this.#kubernetes.installKind(kind);
    this.#kubernetes.objects.create("namespaces", { metadata: { name: METAL } });
    const { url, token } = this.#cloud.simulator;
    const config = `url: ${url}\ntoken: ${token}\nrefreshInterval: 1s\n`;
    await writeFile(join(this.#folder, "cloud.yaml"), config);
  }

  #start(): void {
    this.#landfall = startLandfall(this.#program, this.#args);
  }

  #plan({ victim, at }: Death): void {
    let calls = 0;
    this.#cloud.simulator.cloud.hypervisor.watch(({ outcome }) => {
      if (outcome !== "sent") return;
      calls += 1;
      if (calls === at) this.#again = this.#kill(victim);
    });
  }

  /** Kills it at once, before it can learn anything, and starts it again. */
  async #kill(victim: Victim): Promise<void> {
    if (victim === "xo-server") return await this.#cloud.restart();
    this.#landfall?.signal("SIGKILL");
    await this.#landfall?.ended;
    this.#start();
  }

  #read(): Vino | undefined {
    const found = this.#kubernetes.objects.get(VINOES.plural, NAME);
    return found && JSON.parse(JSON.stringify(found));
  }

  #isReady(): boolean {
    const { conditions = [] } = this.#read()?.status ?? {};
    return conditions.some(({ type, status }) => type === "Ready" && status === "True");
  }

  get #waits(): boolean {
    const machines = this.#kubernetes.objects.list(VINO_MACHINES.plural);
    return machines.some((one) => JSON.stringify(one["status"] ?? null).includes(MAY_LEAVE));
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    await until(what, holds, STEP_MS).catch((error: unknown) => {
      const status = JSON.stringify(this.#read()?.status);
      throw new Error(`${String(error)}: ${status}\n${this.#landfall?.log.slice(-4_000)}`, {
        cause: error,
      });
    });
  }

  #listLeft(): string[] {
    const { objects } = this.#kubernetes;
    const cloud = [...this.#cloud.readObjects().keys()].filter((key) => !this.#before.has(key));
    const kinds = [BARE_METAL_HOST.plural, VINO_MACHINES.plural, "secrets"];
    const kept = kinds.flatMap((plural) =>
      objects.list(plural).map(({ metadata }) => `${plural}/${metadata.name}`),
    );
    const pools: readonly IpPool[] = JSON.parse(JSON.stringify(objects.list(IP_POOLS.plural)));
    const addresses = pools
      .flatMap(({ spec }) => spec?.allocatedIPs ?? [])
      .map(({ ip }) => `${ip}`);
    return [...cloud, ...kept, ...addresses, ...this.#watcher.listTouched()];
  }
}
