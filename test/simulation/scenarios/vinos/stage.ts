/**
 * Where the scenarios about Vinos are told: a Xen Orchestra that makes VMs, a process, and what goes wrong with one or
 * two of the things that they do.
 * @module
 */
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { objectAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Moment } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import type { CrashEnding, CrashPoint } from "../../crash_points.ts";
import { tellStory } from "../../ending.ts";
import { restart, untilAllRight } from "../../vino/story.ts";
import type { Order } from "../../vino/orders.ts";
import { type CloudGate, METAL, VinoWorld } from "../../vino/world.ts";
import { ALONE } from "../stage.ts";
import { toReplay } from "../scenario.ts";

/**
 * What goes wrong with one change of the cloud. `lost`: the server does it, and there is no answer; `late`: so it does
 * when everything else has gone on; `hangs`: the answer never comes; `repeated`: a proxy sends it twice.
 */
type Mishap = "lost" | "late" | "hangs" | "repeated";

/** What goes wrong, once. Numbers are from 1 on. */
export type Disturbance =
  /** The process dies at its request; `isForgetful`: Kubernetes loses what the process noted, too. */
  | { readonly who: "process"; readonly point: CrashPoint; readonly isForgetful?: boolean }
  /** A change of this number has a {@linkcode Mishap}. */
  | { readonly who: "reply"; readonly at: number; readonly when: Mishap }
  /** The server dies at a call; `isSlow`: the hypervisor works on for longer than it is away. */
  | {
      readonly who: "server";
      readonly at: number;
      readonly when: Moment;
      readonly isSlow?: boolean;
    }
  /** The pool is lost at a call; `isBack`: it is back as soon as something is changed, after a look that missed it. */
  | {
      readonly who: "pool";
      readonly at: number;
      readonly when: Moment;
      readonly forMs?: number;
      readonly isBack?: boolean;
    }
  /** The hypervisor takes long for a call, or fails it. */
  | { readonly who: "hypervisor"; readonly at: number }
  | { readonly who: "call"; readonly at: number }
  /** A proxy sends every request twice that changes something. */
  | { readonly who: "proxy" };

type CallDisturbance = Exclude<Disturbance, { readonly who: "process" | "reply" | "proxy" }>;

/** Machines that are at rest, and a change. */
export interface VinoStory {
  readonly name: string;
  /** What is asked for before the change, brought to rest without any disturbance. @default {nothing} */
  readonly before?: Partial<Order>;
  /** Whether notes can be lost beside that: a person can take more marks away than is good. @default {true} */
  readonly isForgetful?: boolean;
  /** Whether its disturbances are like those of another story, so that some in CI are enough. @default {false} */
  readonly isVariant?: boolean;
  /** What was once broken, by the end of its name. @default {nothing} */
  readonly once?: Readonly<Record<string, readonly Disturbance[]>>;
  /** Whether only CI tells it. @default {as variants} */
  readonly isOfCi?: boolean;
  /** The change. From here on everything may go wrong. */
  readonly act: (world: VinoWorld) => void;
}

/** How a story ended. */
export interface VinoEnding extends CrashEnding {
  /** Changes of the cloud since the change of the story. */
  readonly changes: number;
  /** Methods of the calls since then. */
  readonly calls: readonly string[];
}

/** The name of the Vino. */
export const VINO = "edge";
const PATH = { namespace: METAL, name: VINO };
const ORDER: Order = {
  count: 1,
  isPerHost: false,
  isNetboot: false,
  cpus: 4,
  memory: "4Gi",
  rootGib: 20,
  hasData: true,
  isWide: false,
  deletes: true,
  hosts: { names: ["xcp-par-2"], tags: [] },
};
const START_MS = 3_000;
/** Longer than the pause between two inventories. */
const QUIET_MS = 40_000;
/** How long xo-server is away, and then loads its pools. */
const DOWN_MS = 3_000;
const RESTART = { connectedAfterMs: 1_000, loadedAfterMs: 10_000 };
/** How late a request arrives that a proxy held back. */
const LATE_MS = 15_000;
/** How long a pool is away, and how late that is noticed. */
const LOST_MS = 2_000;
const LINGER_MS = 58_000;
const SLOW_MS = 60_000;
const RIGHT = { rate: 1, skewMs: 0 } as const;

/** Orders machines, or changes what is asked for. */
export function order(world: VinoWorld, more: Partial<Order> = {}): void {
  world.order(VINO, { ...ORDER, ...more });
}

/** The VM of a machine that is complete. */
export function findVm({ cloudJudge }: VinoWorld): XoRecord {
  const [first] = cloudJudge.machines.list();
  if (first === undefined) throw new Error("There is no VM");
  return first.vm;
}

/** Tells a story. */
export async function tellVino(
  { name, before, act }: VinoStory,
  disturbances: readonly Disturbance[] = [],
): Promise<VinoEnding> {
  const world = new VinoWorld("settled", 1, ALONE);
  const { crashPoints, timeline, cloud } = world;
  const isLast = disturbances.length > 0;
  let called = 0;
  let changes = (): number => 0;
  let left: unknown;
  const ending = await tellStory(toReplay(name), world, [
    async () => {
      for (const replica of world.replicas) replica.start(RIGHT);
      await timeline.advance(START_MS);
      if (before !== undefined) {
        order(world, before);
        await untilAllRight(world, QUIET_MS);
      }
      called = cloud.hypervisor.journal.length;
      changes = disturb(world, disturbances);
      act(world);
      await untilAllRight(world, QUIET_MS);
      left = { ...summarizeCloud(world), records: listRecords(world) };
      if (!isLast) await restart(world);
    },
  ]);
  return {
    ...ending,
    left,
    asked: [...crashPoints.asked],
    isReached: true,
    changes: changes(),
    calls: cloud.hypervisor.journal.slice(called).map(({ method }) => method),
  };
}

/** Lets happen what shall go wrong. Returns what counts the changes of the cloud from now on. */
function disturb(world: VinoWorld, disturbances: readonly Disturbance[]): () => number {
  const mishaps = new Map<number, Mishap>();
  let all: Mishap | undefined;
  let point: CrashPoint | undefined;
  for (const one of disturbances) {
    if (one.who === "process") {
      ({ point } = one);
      if (one.isForgetful) world.onCrash = () => forget(world);
    } else if (one.who === "reply") mishaps.set(one.at, one.when);
    else if (one.who === "proxy") all = "repeated";
    else disturbCall(world, one);
  }
  world.cloudJudge.watcher.isRepeating =
    all === "repeated" || [...mishaps.values()].includes("repeated");
  world.crashPoints.begin(point);
  let changes = 0;
  world.gate = (request, serve) => {
    // Subscriptions are no changes.
    if (request.url.includes("/rest/v0/events")) return serve(request);
    changes += 1;
    return meet(world, all ?? mishaps.get(changes), request, serve);
  };
  return () => changes;
}

/** Lets a change meet a mishap. */
async function meet(
  { timeline, cloudJudge }: VinoWorld,
  mishap: Mishap | undefined,
  ...[request, serve]: Parameters<CloudGate>
): ReturnType<CloudGate> {
  const { url, method, headers } = request;
  const body = await request.text();
  const copy = (): Request => new Request(url, { method, headers, ...(body !== "" && { body }) });
  // Also a creation that a proxy holds back is under way.
  const name = /^\{"template":.*?"name_label":"([^"]+)"/.exec(body)?.[1];
  const held = cloudJudge.watcher.heldBack;
  if (name !== undefined && held.has(name))
    cloudJudge.watcher.violations.push(`${name} is created twice at once`);
  if (mishap === "late") {
    if (name !== undefined) held.add(name);
    timeline.schedule(LATE_MS, () => {
      if (name !== undefined) held.delete(name);
      void serve(copy());
    });
    return { kind: "reset" };
  }
  if (mishap === "repeated") await serve(copy());
  const outcome = await serve(copy());
  if (mishap === "lost") return { kind: "reset" };
  return mishap === "hangs" ? { kind: "hang" } : outcome;
}

/** The machines, and which have a record for the next process that says which VM is complete. */
function listRecords({ objects }: VinoWorld): unknown {
  return objects.list("vinomachines", METAL).map((one) => {
    const { state, record } = objectAt(one, "status");
    return [one.metadata.name, state, String(record).includes('"vm":')];
  });
}

/** As after a restore from a backup, which has no status. */
function forget({ objects }: VinoWorld): void {
  const none: JsonObject = { status: null };
  if (objects.get("vinoes", PATH)) objects.patch("vinoes", PATH, none);
  for (const { metadata } of objects.list("vinomachines", METAL)) {
    objects.patch("vinomachines", { namespace: METAL, name: metadata.name }, none);
  }
}

function disturbCall(world: VinoWorld, one: CallDisturbance): void {
  const { faults, moments } = world.cloud.hypervisor;
  const scope = { skip: one.at - 1, times: 1 };
  if (one.who === "call") faults.set({ kind: "fail", code: "INTERNAL_ERROR" }, scope);
  else if (one.who === "hypervisor") faults.set({ kind: "delay", ms: SLOW_MS }, scope);
  else {
    const onHit = (): void => (one.who === "server" ? killServer(world) : losePool(world, one));
    moments.set(one.when, { ...scope, onHit });
    if (one.who === "server" && one.isSlow) faults.set({ kind: "delay", ms: SLOW_MS }, scope);
  }
}

/** Kills xo-server; it comes back by itself. */
function killServer({ cloud, replicas, timeline }: VinoWorld): void {
  if (!cloud.life.isUp) return;
  cloud.kill();
  const refuse = (isRefused: boolean): void => {
    for (const one of replicas.flatMap(({ incarnations }) => incarnations)) {
      one.cloud.isRefused = isRefused;
      if (isRefused) one.cloud.reset();
    }
  };
  refuse(true);
  timeline.schedule(DOWN_MS, () => {
    cloud.start(RESTART);
    refuse(false);
  });
}

/** Loses the pool; it comes back by itself, or as soon as something is changed. */
function losePool(
  world: VinoWorld,
  { forMs = LOST_MS, isBack = false }: { readonly forMs?: number; readonly isBack?: boolean },
): void {
  const { paris } = world.site.poolIds;
  const { state } = world.cloud;
  state.dropPool(paris, forMs, LINGER_MS);
  if (!isBack) return;
  const { gate } = world;
  world.gate = (request, serve) => {
    state.restorePool(paris);
    world.gate = gate;
    return gate(request, serve);
  };
}

/** The state of the cloud, without what belongs to others. */
interface CloudSummary {
  readonly machines: readonly object[];
  /** Names of templates that are not of the site. */
  readonly templates: readonly string[];
  /** Names of disks that are attached to nothing. */
  readonly looseDisks: readonly string[];
  readonly snapshots: readonly string[];
  /** IDs of what belongs to others and changed. */
  readonly touched: readonly string[];
}

/** Summarizes the cloud of a world. */
function summarizeCloud({ cloud, cloudJudge: { watcher } }: VinoWorld): CloudSummary {
  const { state } = cloud;
  const listOwn = (collection: Parameters<typeof state.all>[0]): XoRecord[] =>
    [...state.all(collection).values()].filter(({ id }) => !watcher.isForeign(id));
  const toName = (collection: "srs" | "networks" | "hosts", id: unknown): string =>
    String(state.all(collection).get(String(id))?.["name_label"]);
  const toDisk = (vbd: XoRecord): object => {
    const vdi = state.all("vdis").get(String(vbd["VDI"]));
    const content = cloud.contents.get(String(vbd["VDI"]));
    return {
      position: vbd["position"],
      isReadOnly: vbd["read_only"],
      name: vdi?.["name_label"],
      description: vdi?.["name_description"],
      size: vdi?.["size"],
      storage: toName("srs", vdi?.["$SR"]),
      content: content && Bun.hash(content).toString(),
    };
  };
  const toInterface = (vif: XoRecord): object => ({
    device: vif["device"],
    mac: vif["MAC"],
    network: toName("networks", vif["$network"]),
  });
  const machines = listOwn("vms").map((vm) => ({
    name: vm["name_label"],
    description: vm["name_description"],
    tags: [...(vm["tags"] as string[])].toSorted(),
    power: vm["power_state"],
    host: toName("hosts", vm["$container"]),
    cpus: vm["CPUs"],
    memory: vm["memory"],
    boot: vm["boot"],
    blocked: vm["blockedOperations"],
    disks: toSorted(
      listOwn("vbds")
        .filter((vbd) => vbd["VM"] === vm.id)
        .map(toDisk),
    ),
    interfaces: toSorted(
      listOwn("vifs")
        .filter((vif) => vif["$VM"] === vm.id)
        .map(toInterface),
    ),
  }));
  const isLoose = ({ id }: XoRecord): boolean =>
    ![...state.all("vbds").values()].some((vbd) => vbd["VDI"] === id);
  return {
    machines: toSorted(machines),
    templates: toNames(listOwn("vm-templates")),
    looseDisks: toNames(listOwn("vdis").filter(isLoose)),
    snapshots: toNames(listOwn("vm-snapshots")),
    touched: watcher.listTouched(),
  };
}

function toNames(records: readonly XoRecord[]): string[] {
  return records.map((record) => String(record["name_label"])).toSorted();
}

function toSorted(items: readonly object[]): object[] {
  return items.toSorted((one, two) => (JSON.stringify(one) < JSON.stringify(two) ? -1 : 1));
}
