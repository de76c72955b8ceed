/**
 * Whether a process that lives for long keeps what it needs no more: hours of trouble, and what is on the heap after
 * each. What the kernel sees of it, on a real process, is for `npm run soak`.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { heapStats } from "bun:jsc";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { RequestLog } from "../../../lib/simulator/kubernetes/requests/log.ts";
import { settle } from "../../support/manual_clock.ts";
import { CLOUD_STEPS } from "../../simulation/xenorchestra/cloud_steps.ts";
import { MACHINE_STEPS } from "../../simulation/xenorchestra/machine_steps.ts";
import { NODE_STEPS } from "../../simulation/steps/node.ts";
import { SERVER_STEPS } from "../../simulation/steps/process.ts";
import type { Step } from "../../simulation/steps/mod.ts";
import { toSaying } from "../../simulation/world/settings_file.ts";
import { XenOrchestraWorld } from "../../simulation/xenorchestra/cloud.ts";
import { EventCorrelator } from "../../../lib/kube/events/events.ts";

const NODES = 4;
const TROUBLE_MS = 1_200_000;
/** On average this long after one another. */
const GAP_MS = 2_000;
/** The first rounds load code, and fill what has a bound. */
const WARM_ROUNDS = 2;
const ROUNDS = 3;
/** Of so many rounds each; after the first that shows nothing more, all is said. */
const STRETCHES = 4;
const BEAT_MS = 10_000;
/** Until every deadline, back-off and pause after the trouble is over. */
const CALM_MS = 700_000;
/** What is at rest differs by so many objects of one type; what an act in fifty leaves behind shows. */
const NOISE_MAX = ((ROUNDS * TROUBLE_MS) / GAP_MS) * 0.02;
/** What everything is made of, metrics too, differs by more; what each Node that is gone would leave behind shows. */
const NOISY: Readonly<Record<string, number>> = { string: 300, Object: 100, Array: 50 };
/** Code, which is compiled as it is needed and thrown away when it is not. */
const CODE = /Code|Executable|Structure|SymbolTable|PropertyTable|PropertyName|Butterfly|RegExp/;
const RIGHT_CLOCK = { rate: 1, skewMs: 0 };

/** A machine goes, and its Node with it sooner or later; another one comes, under a name that never was. */
const replace: Step<XenOrchestraWorld> = {
  name: "Node replaced",
  weight: 40,
  act: (world) => {
    const { random, machines, truth, cloud, server } = world;
    const [name, vmId] = random.pick([...machines]);
    if (truth.find(vmId)) cloud.state.removeVm(vmId);
    if (random.chance(0.5)) server.objects.deleteNode(name);
    else if (server.findNode(name)) world.setReady(name, false);
    machines.delete(name);
    return join(world);
  },
};

/** As the step of stories, but never to the Lease: who loses it ends. */
const refuse: Step<XenOrchestraWorld> = {
  name: "API server refuses",
  weight: 4,
  act: ({ random, server, timeline }) => {
    const resource = random.pick(["nodes", "nodes/status", "events"]);
    const status = random.pick([409, 410, 429, 500, 503, 504]);
    const pause = random.chance(0.5) ? { retryAfterSeconds: random.between(1, 8) } : {};
    timeline.schedule(10_000, server.faults.refuse({ resource, status, ...pause }));
    return resource;
  },
};

/** Settings of requests change while all goes on: those under way are given up, and a new session begins. */
const changeSettings: Step<XenOrchestraWorld> = {
  name: "settings change",
  weight: 2,
  act: ({ random, replicas, cloud, said }) => {
    const clientTimeout = `clientTimeout: ${random.between(10, 20)}s\n`;
    const text = toSaying(cloud, said).text + clientTimeout;
    for (const { file } of replicas) file.write({ text, said });
    return clientTimeout;
  },
};

const LEFT_OUT = new Set([
  "Node joins",
  "Node rebuilt",
  "API server restarts",
  "API server refuses",
  "Lease edited by hand",
]);
const STEPS: readonly Step<XenOrchestraWorld>[] = [
  ...[...NODE_STEPS, ...MACHINE_STEPS, ...CLOUD_STEPS, ...SERVER_STEPS].filter(
    ({ name }) => !LEFT_OUT.has(name),
  ),
  replace,
  refuse,
];

let world: XenOrchestraWorld | undefined;
// What has bounds, and tests of them, of its own. Not by mocks, which would remember each call.
const { add } = RequestLog.prototype;
const { correlate } = EventCorrelator.prototype;
beforeEach(() => {
  RequestLog.prototype.add = () => undefined;
  EventCorrelator.prototype.correlate = (event) => ({ event });
});
afterEach(async () => {
  RequestLog.prototype.add = add;
  EventCorrelator.prototype.correlate = correlate;
  await world?.leave();
});

describe("runApp", () => {
  test("runApp() keeps nothing of what is over, leading or waiting", async () => {
    world = createWorld();
    for (const replica of world.replicas) replica.start(RIGHT_CLOCK);
    const steps = [...STEPS, changeSettings];
    makeRight(world);
    for (let round = 0; round < WARM_ROUNDS; round += 1) await live(world, steps);

    expect(await findGrowth(world, steps)).toEqual([]);
    // Nobody ended, so what was counted lived all the time.
    expect(world.incarnations.filter(({ end }) => end !== undefined)).toEqual([]);
  }, 600_000);
});

/** A world that remembers nothing of its own past. */
function createWorld(): XenOrchestraWorld {
  const deletion = { ...DEFAULT_DELETION, confirmations: 2, holdOffMs: 10_000, fleetShare: 1 };
  const settings = { deletion, refreshIntervalMs: 10_000, pools: 2, nodes: NODES, replicas: 2 };
  const world = new XenOrchestraWorld(7, () => settings);
  const forget = (): undefined => undefined;
  world.truth.note = forget;
  world.trace.note = forget;
  world.noteChange = forget;
  world.server.onNodeChange = forget;
  world.server.onIdleWrite = forget;
  world.server.onEarlyTake = forget;
  world.cloud.onAnswer = forget;
  world.invariants.checkSent = () => forget;
  world.invariants.proofs.notePiece = forget;
  world.invariants.proofs.noteFailure = forget;
  world.invariants.proofs.noteNodes = forget;
  world.invariants.proofs.fleet.noteEvent = forget;
  return world;
}

let joined = 0;

function join(world: XenOrchestraWorld): string {
  joined += 1;
  const name = `node-${joined}`;
  world.addMachine(name);
  world.join(name);
  return name;
}

/** A while of trouble, then calm until all is right and at rest. */
async function live(
  world: XenOrchestraWorld,
  steps: readonly Step<XenOrchestraWorld>[],
): Promise<void> {
  const { timeline, random, server } = world;
  const endMs = timeline.monotonic() + TROUBLE_MS;
  for (let beatMs = 0; timeline.monotonic() < endMs;) {
    random.weigh(steps).act(world);
    if (timeline.monotonic() >= beatMs) {
      beatMs = timeline.monotonic() + BEAT_MS;
      for (const { metadata } of server.nodes) beat(world, metadata.name);
      // As Prometheus does.
      for (const { metrics } of world.incarnations) metrics.render();
    }
    await timeline.advance(random.between(1, 2 * GAP_MS));
  }
  makeRight(world);
  await timeline.advance(CALM_MS);
  const events = forgetEvents(world);
  if (events === 0) throw new Error("Cannot judge: nothing happened");
}

/** What grows from one stretch to the next, and in each stretch after that: what is kept grows always, noise once. */
async function findGrowth(
  world: XenOrchestraWorld,
  steps: readonly Step<XenOrchestraWorld>[],
): Promise<string[]> {
  let before = await readLows(world, steps);
  let growing: readonly Growth[] | undefined;
  for (let stretch = 0; stretch < STRETCHES; stretch += 1) {
    const after = await readLows(world, steps);
    const more = listGrowth(before, after);
    growing = more.filter(({ type }) => growing?.some((one) => one.type === type) ?? true);
    if (growing.length === 0) break;
    before = after;
  }
  return (growing ?? []).map(({ type, more }) => `${more} more of ${type} in each stretch`);
}

/** The least of each type after any of some rounds: what is at rest goes up and down, what is kept only up. */
async function readLows(
  world: XenOrchestraWorld,
  steps: readonly Step<XenOrchestraWorld>[],
): Promise<Readonly<Record<string, number>>> {
  const lows: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    await live(world, steps);
    // How much there is of what happened depends on the story: as etcd does, it is forgotten.
    world.server.compact();
    for (const [type, count] of Object.entries(await countObjects())) {
      lows[type] = Math.min(lows[type] ?? Infinity, count);
    }
  }
  return lows;
}

function beat(world: XenOrchestraWorld, name: string): void {
  if (world.isRunning(name)) world.setReady(name, true);
}

/** All faults end, and all Nodes are new: others than before, and as many, with nothing that anybody wrote on them. */
function makeRight(world: XenOrchestraWorld): void {
  const { cloud, server, machines } = world;
  world.endFaults();
  for (const { metadata } of server.nodes) server.objects.deleteNode(metadata.name);
  for (const collection of ["vms", "vm-templates"] as const) {
    for (const id of cloud.state.all(collection).keys()) cloud.state.removeVm(id);
  }
  machines.clear();
  for (let at = 0; at < NODES; at += 1) join(world);
}

/** As the API server does after an hour. */
function forgetEvents({ server: { objects } }: XenOrchestraWorld): number {
  const events = objects.list("events");
  for (const { metadata } of events) {
    objects.delete("events", { name: `${metadata.name}`, namespace: `${metadata["namespace"]}` });
  }
  return events.length;
}

/** Everything on the heap that is still held, by its type. */
async function countObjects(): Promise<Readonly<Record<string, number>>> {
  for (let turn = 0; turn < 5; turn += 1) {
    Bun.gc(true);
    await settle();
  }
  return heapStats().objectTypeCounts;
}

interface Growth {
  readonly type: string;
  readonly more: number;
}

/** What there is more of than noise can explain. */
function listGrowth(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): readonly Growth[] {
  return Object.entries(after)
    .filter(([type]) => !CODE.test(type))
    .map(([type, count]) => ({ type, more: count - (before[type] ?? 0) }))
    .filter(({ type, more }) => more > (NOISY[type] ?? NOISE_MAX));
}
