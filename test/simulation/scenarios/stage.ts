/**
 * Where the scenarios about Nodes are told: ten Nodes in two parts of a cloud, one more in each whose machine is
 * deleted sooner or later, and one process that follows them.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/streak.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { type Ending, tellStory } from "../ending.ts";
import { calm, end } from "../story.ts";
import type { Cloud, WorldSettings } from "../world/cloud.ts";
import type { World } from "../world/mod.ts";
import type { ElectionTimes } from "../world/program.ts";
import type { Incarnation } from "../world/replica.ts";
import { check, toReplay } from "./scenario.ts";

/** One of the two parts: a pool, a zone. */
export type PartName = "alpha" | "beta";

/** What the names of machines end in. */
const SUFFIXES: readonly string[] = ["1", "2", "3", "4", "5", "gone"];
/** Both parts, in the order that the cloud has them in. */
export const PARTS: readonly PartName[] = ["alpha", "beta"];
/** Every Node. */
export const FLEET: readonly string[] = PARTS.flatMap((part) =>
  SUFFIXES.map((suffix) => `${part}-${suffix}`),
);
/** Nodes whose machines are there for good. */
export const LIVE: readonly string[] = FLEET.filter((name) => !name.endsWith("gone"));
/** Nodes whose machines are deleted. */
export const GONE: readonly string[] = ["alpha-gone", "beta-gone"];
/** How often the cloud is asked when nothing is wrong, in milliseconds. */
export const REFRESH_MS = 30_000;
export const MINUTE_MS = 60_000;
/** Longer than a process needs from its start until it has nothing left to do. */
const START_MS = 40_000;
const STOP_MS_MAX = 15_000;
const RIGHT = { rate: 1, skewMs: 0 } as const;
/** One process alone need not hurry: each look at its Lease costs time of the test. */
export const ALONE: ElectionTimes = {
  leaseDurationMs: 90_000,
  renewDeadlineMs: 60_000,
  retryPeriodMs: 30_000,
};

/** How careful the program is. */
export interface Care {
  readonly deletion: DeletionSettings;
  /** Absent: nothing takes Nodes out of service. */
  readonly outOfService?: OutOfServiceSettings;
}

/** The part that a machine is made in. */
export function toPart(name: string): PartName {
  return name.startsWith("alpha") ? "alpha" : "beta";
}

/** The settings of a world that a scenario is told in. */
export function toWorldSettings({ deletion, outOfService }: Care): WorldSettings {
  return {
    deletion,
    outOfService,
    refreshIntervalMs: REFRESH_MS,
    replicas: 1,
    pools: PARTS.length,
    nodes: FLEET.length,
    election: ALONE,
  };
}

/** What is done before Nodes join. */
export interface Preparations<C extends Cloud> {
  /** After the machines of beta, and before those of alpha. */
  readonly between?: (stage: Stage<C>) => void;
  /** After both. */
  readonly after?: (stage: Stage<C>) => void;
}

/** A world with the fleet in it. */
export class Stage<C extends Cloud = Cloud> {
  readonly world: World<C>;
  #refuses = false;
  readonly #uids = new Map<string, string | undefined>();

  constructor(world: World<C>) {
    this.world = world;
  }

  get cloud(): C {
    return this.world.cloud;
  }

  /** The process that runs. @throws an error if none does */
  get process(): Incarnation {
    const current = this.world.replicas[0]?.current;
    if (current === undefined) throw new Error("no process runs");
    return current;
  }

  /** Lets the machines be made, their Nodes join, and a process find them. */
  async open({ between, after }: Preparations<C> = {}): Promise<void> {
    const { world } = this;
    for (const part of PARTS.toReversed()) {
      for (const suffix of SUFFIXES) world.addMachine(`${part}-${suffix}`, PARTS.indexOf(part));
      if (part === "beta") between?.(this);
    }
    after?.(this);
    for (const name of FLEET) world.join(name);
    this.start();
    await this.pass(START_MS);
    for (const name of FLEET) this.#uids.set(name, this.read(name).metadata.uid);
  }

  /** Takes in what was changed, and lets time go on. */
  async pass(ms: number): Promise<void> {
    this.world.noteChange();
    await this.world.timeline.advance(ms);
    this.world.noteChange();
  }

  /** Starts a process that remembers nothing. */
  start(): void {
    for (const replica of this.world.replicas) replica.start(RIGHT).cloud.isRefused = this.#refuses;
  }

  /** Nobody listens where the cloud should be, for this process and the next. Returns what ends that. */
  refuseCloud(): () => void {
    const set = (isRefused: boolean): void => {
      this.#refuses = isRefused;
      for (const { cloud } of this.world.incarnations) {
        cloud.isRefused = isRefused;
        if (isRefused) cloud.reset();
      }
    };
    set(true);
    return () => set(false);
  }

  /** Ends the process in good order. */
  async stop(): Promise<void> {
    const { replicas, timeline } = this.world;
    const list = (): string[] => replicas.flatMap(({ current }) => current?.process.name ?? []);
    for (const replica of replicas) replica.stop();
    const endMs = timeline.monotonic() + STOP_MS_MAX;
    while (list().length > 0 && timeline.monotonic() < endMs) await this.pass(100);
    check("processes that run", list(), []);
  }

  /** Ends the process, and starts another one; together they take so long, in milliseconds. */
  async restart(ms: number = 0): Promise<void> {
    const untilMs = this.world.timeline.monotonic() + ms;
    await this.stop();
    this.start();
    await this.pass(Math.max(0, untilMs - this.world.timeline.monotonic()));
  }

  toVmId(name: string): string {
    return this.world.machines.get(name) ?? "";
  }

  /** A kubelet is not heard of any more. */
  fall(name: string): void {
    this.world.setReady(name, false);
  }

  /** Deletes the machine of a Node for good, and so its kubelet falls silent. */
  remove(name: string): void {
    this.cloud.removeVm(this.toVmId(name));
    this.fall(name);
  }

  /** The kubelet of a Node that is gone starts again, and registers. */
  register(name: string): void {
    const labels = { "kubernetes.io/hostname": name };
    const registration = toRegistration(name, { systemUuid: this.toVmId(name), labels });
    this.world.server.objects.createNode(registration);
    this.world.setReady(name, true);
    this.#uids.delete(name);
  }

  /** A Node. @throws an error if it is gone */
  read(name: string): Node {
    const node = this.world.findNode(name);
    if (node === undefined) throw new Error(`Node ${name} is gone`);
    return node;
  }

  /** Events about a Node that say that its deletion waits. */
  listBlocked(name: string): string[] {
    const events = this.world.server.objects.list("events", "default");
    return (events as unknown as KubeEvent[])
      .filter((one) => one.involvedObject.name === name && one.reason === "NodeDeletionBlocked")
      .map(({ message }) => message ?? "");
  }

  /** What the process that runs has to say in its metrics of this name. */
  listMetrics(name: string): string[] {
    const lines = this.process.metrics.render().split("\n");
    return lines.filter((line) => line.startsWith(name));
  }

  /** Each of these Nodes is the one that it was at first. */
  expectKept(...names: readonly string[]): void {
    for (const name of names) {
      const uid = this.#uids.get(name);
      check(`UID of Node ${name}`, this.world.findNode(name)?.metadata.uid, uid);
    }
  }

  /** Each of these Nodes is there, and an Event says why. @param words What an Event says, among other things */
  expectBlocked(name: string, words: string = ""): void {
    this.expectKept(name);
    const said = this.listBlocked(name).join("\n");
    check(`Events about Node ${name} "${said}"`, said.includes(words) && said !== "", true);
  }

  expectGone(...names: readonly string[]): void {
    for (const name of names) check(`Node ${name}`, this.world.findNode(name)?.metadata, undefined);
  }
}

/**
 * Tells a scenario on a stage. Then all faults end, all must come right, and the process must stop and leave nothing.
 *
 * @param name That of the telling
 */
export async function tellOnStage<C extends Cloud>(
  name: string,
  world: World<C>,
  act: (stage: Stage<C>) => Promise<void>,
  preparations: Preparations<C> = {},
): Promise<Ending> {
  const stage = new Stage(world);
  return await tellStory(toReplay(name), world, [
    () => stage.open(preparations),
    () => act(stage),
    async () => {
      if (world.violations.length > 0) return;
      await calm(world);
      check(
        "Nodes whose deletion waits",
        stage.listMetrics("landfall_node_deletions_blocked{"),
        [],
      );
      await end(world);
    },
  ]);
}
