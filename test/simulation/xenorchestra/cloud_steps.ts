/**
 * What goes wrong with Xen Orchestra, and between it and its pools.
 * @module
 */
import type { Fault } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { Random } from "../../support/random.ts";
import type { XenOrchestraWorld } from "./cloud.ts";
import { later, type Step, toStep } from "../steps/mod.ts";

/** Everything, or one kind of question alone. */
const ROUTES = [
  undefined,
  undefined,
  "GET /vms",
  "GET /pools",
  "GET /hosts",
  "GET /vms/{id}",
  "GET /pools/{id}",
  "GET /servers",
  "GET /events",
] as const;

/** As when a connection breaks or a proxy is restarted: a try fails, or two, and the next succeeds. */
export function stumble({ random, cloud }: XenOrchestraWorld): string {
  const fault = random.pick<Fault>([{ kind: "status", status: 502 }, { kind: "halfBody" }]);
  const route = random.pick(["GET /vms", "GET /pools", "GET /hosts"] as const);
  cloud.faults.set(fault, { route, times: random.between(1, 2) });
  return `${JSON.stringify(fault)} to ${route}`;
}

function drawFault(random: Random): Fault {
  const fault = random.pick<Fault>([
    { kind: "status", status: random.pick([401, 403, 500, 503]) },
    { kind: "status", status: 429, retryAfterSeconds: random.between(1, 20) },
    { kind: "html", status: random.pick([200, 404, 502]) },
    { kind: "json", body: random.pick([[], {}, null, "text"]) },
    { kind: "json", status: 404, body: { error: "not found" } },
    { kind: "delay", ms: random.between(1_000, 40_000) },
    { kind: "hang" },
    { kind: "halfBody" },
    { kind: "reset" },
    { kind: "nonAdmin" },
  ]);
  return fault;
}

function silenceNodes(world: XenOrchestraWorld, poolId: string): void {
  for (const [name, vmId] of world.machines) {
    const isThere = world.truth.find(vmId)?.["$pool"] === poolId;
    if (isThere && world.findNode(name)) world.setReady(name, false);
  }
}

/** Restarts it. @param how All from now on, in milliseconds */
export function restartCloud(
  world: XenOrchestraWorld,
  how: {
    readonly downMs: number;
    readonly connectedAfterMs: number;
    readonly loadedAfterMs: number;
  },
): void {
  const { cloud, incarnations } = world;
  for (const { cloud: link } of incarnations) {
    link.isRefused = true;
    link.reset();
  }
  cloud.events.end();
  cloud.state.restart(how);
  cloud.faults.set({ kind: "status", status: 401 }, { times: 1 });
  later(world, how.downMs, () => {
    for (const { cloud: link } of world.incarnations) link.isRefused = false;
  });
}

/** Everything that goes wrong there. */
export const CLOUD_STEPS: readonly Step<XenOrchestraWorld>[] = [
  // Answers that are wrong, late, cut off, or never come.
  toStep("cloud answers wrongly", 5, (world) => {
    const { random, cloud, timeline } = world;
    const fault = drawFault(random);
    const route = random.pick(ROUTES);
    const ms = random.between(1_000, fault.kind === "hang" ? 40_000 : 90_000);
    timeline.schedule(ms, cloud.faults.set(fault, route === undefined ? {} : { route }));
    return `${JSON.stringify(fault)} to ${route ?? "everything"} for ${ms} ms`;
  }),
  toStep("cloud stumbles", 3, (world) => stumble(world)),
  // Its connection to a pool breaks: all machines there look as if they were deleted.
  toStep("pool lost", 4, (world) => {
    const { random, cloud } = world;
    const { id } = random.pick(cloud.pools);
    const forMs = random.chance(0.8)
      ? random.between(1_000, 60_000)
      : random.between(1_000, 600_000);
    const lingerMs = random.pick([0, 0, 5_000, 60_000]);
    cloud.state.dropPool(id, forMs, lingerMs);
    // The network that fails between the two often is the one that the Nodes of the pool are on.
    if (random.chance(0.5)) silenceNodes(world, id);
    return `${id} for ${forMs} ms, and ${lingerMs} ms until it is loaded`;
  }),
  // The pool shows, with its hosts: only its machines could not be read.
  toStep("VMs of a pool hidden", 1, (world) => {
    const { random, cloud } = world;
    const { id } = random.pick(cloud.pools);
    const ms = random.between(1_000, 90_000);
    cloud.state.hideVms(id);
    later(world, ms, () => cloud.state.hideVms(id, false));
    return `${id} for ${ms} ms`;
  }),
  // Connections are cut, then nobody listens, then the first answers are wrong, then the pools load.
  toStep("cloud restarts", 2, (world) => {
    const { random } = world;
    const downMs = random.between(500, 15_000);
    const connectedAfterMs = downMs + random.between(0, 5_000);
    const loadedAfterMs = connectedAfterMs + random.between(0, 30_000);
    restartCloud(world, { downMs, connectedAfterMs, loadedAfterMs });
    return `back after ${downMs} ms, loaded after ${loadedAfterMs} ms`;
  }),
  toStep("events go wrong", 2, (world) => {
    const { random, cloud } = world;
    const mode = random.pick(["silent", "doubled", "lossy", "cut", "end"] as const);
    const ms = random.between(1_000, 200_000);
    if (mode === "cut") cloud.events.drop();
    else if (mode === "end") cloud.events.end();
    else {
      cloud.events.mode = mode;
      later(world, ms, () => (cloud.events.mode = "right"));
    }
    return `${mode} for ${ms} ms`;
  }),
  // A person removes the connection to a pool: its machines run on, and nobody will see them again.
  toStep("pool forgotten", 0.1, ({ random, cloud }) => {
    if (cloud.pools.length < 2) return undefined;
    const { id } = random.pick(cloud.pools);
    cloud.forgetPool(id);
    return id;
  }),
  toStep("host or pool renamed", 1, ({ random, cloud }) => {
    const { id, hostIds } = random.pick(cloud.pools);
    const record = random.chance(0.5)
      ? cloud.state.all("pools").get(id)
      : cloud.state.all("hosts").get(random.pick(hostIds));
    if (record === undefined) return undefined;
    record["name_label"] = `renamed-${random.between(1, 99)}`;
    return `${record.id} ${record["name_label"]}`;
  }),
];
