/**
 * What happens to the processes themselves, to the network between them and everything else, and to the API server.
 * @module
 */
import type { Link } from "../world/link.ts";
import type { Incarnation } from "../world/replica.ts";
import type { World } from "../world/mod.ts";
import { later, type Step, toStepOf, toStep } from "./mod.ts";

const MINUTE_MS = 60_000;

/** Everything that happens to processes. */
export const PROCESS_STEPS: readonly Step[] = [
  step("SIGKILL", 1, (world, { process }) => {
    world.replicas.find(({ current }) => current?.process === process)?.kill();
    return "";
  }),
  step("SIGTERM", 1, (_world, { stop: controller }) => {
    controller.abort(new Error("SIGTERM"));
    return "";
  }),
  // Frozen, such as by a hypervisor; its clocks go on.
  step("SIGSTOP", 2, (world, { process }) => {
    const ms = world.random.between(1_000, 40_000);
    const isNetFirst = world.random.chance(0.5);
    process.pause();
    later(world, ms, () => process.resume(isNetFirst));
    return `for ${ms} ms`;
  }),
  // Frozen for longer than its Lease lasts, a leader finds work when it goes on: that is when a process acts that does
  // not know yet that another one leads.
  step("SIGSTOP beyond the Lease", 2, (world, { process }) => {
    const { random, server } = world;
    const ms = random.between(16_000, 40_000);
    process.pause();
    later(world, random.between(12_000, ms), () => {
      if (server.nodes.length === 0) return;
      const { name } = random.pick(server.nodes).metadata;
      const labels = {
        [random.pick(world.cloud.labels.edited)]: `edited-${random.between(1, 1e6)}`,
      };
      server.objects.patchNode(name, { metadata: { labels } });
    });
    later(world, ms, () => process.resume(true));
    return `for ${ms} ms`;
  }),
  step("wall clock set", 1, ({ random }, { process }) => {
    const ms = random.between(-300 * MINUTE_MS, 300 * MINUTE_MS);
    process.jump(ms);
    return `by ${ms} ms`;
  }),
  step("network cut", 3, (world, incarnation) => {
    const { links, name } = pickLinks(world, incarnation);
    const ms = world.random.between(1_000, 60_000);
    for (const link of links) link.isSevered = true;
    later(world, ms, () => {
      for (const link of links) link.isSevered = false;
    });
    return `${name} for ${ms} ms`;
  }),
  step("network loses", 3, (world, incarnation) => {
    const { links, name } = pickLinks(world, incarnation);
    const ms = world.random.between(5_000, 90_000);
    const share = world.random.pick([0.05, 0.2, 0.5]);
    for (const link of links) link.lossShare = share;
    later(world, ms, () => {
      for (const link of links) link.lossShare = 0;
    });
    return `${name} ${share} for ${ms} ms`;
  }),
  step("network slow", 2, (world, incarnation) => {
    const { random } = world;
    const { links, name } = pickLinks(world, incarnation);
    const ms = random.between(5_000, 60_000);
    const mostMs = random.pick([200, 1_000, 6_000]);
    for (const link of links) {
      link.delayMs = [1, mostMs];
      link.lagMs = random.between(0, mostMs);
    }
    later(world, ms, () => {
      for (const link of links) link.calm();
    });
    return `${name} up to ${mostMs} ms for ${ms} ms`;
  }),
  // As when a firewall forgets them: nothing more comes, and nobody says so.
  step("streams stall", 0.3, (world, incarnation) => {
    const { links, name } = pickLinks(world, incarnation);
    for (const link of links) link.stall();
    return name;
  }),
];

/** The leader twice as often as the other: there is more to break. */
function step(
  name: string,
  weight: number,
  act: (world: World, incarnation: Incarnation) => string,
): Step {
  const list = ({ replicas, server }: World): readonly Incarnation[] => {
    const running = replicas.flatMap(({ current }) => current ?? []);
    return [...running, ...running.filter(({ process }) => process.name === server.holder)];
  };
  return toStepOf(name, weight, list, (world, incarnation) =>
    `${incarnation.process.name} ${act(world, incarnation)}`.trim(),
  );
}

function pickLinks(
  { random }: World,
  { kube, election, cloud }: Incarnation,
): { readonly links: readonly Link[]; readonly name: string } {
  return random.pick([
    { name: "to the API server", links: [kube, election] },
    { name: "to the API server", links: [kube, election] },
    { name: "to the API server, but for the election", links: [kube] },
    { name: "of the election", links: [election] },
    { name: "to the cloud", links: [cloud] },
    { name: "to everything", links: [kube, election, cloud] },
  ]);
}

const VERBS = [undefined, "get", "list", "watch", "create", "update", "patch", "delete"] as const;
const RESOURCES = [undefined, "nodes", "nodes/status", "leases", "events"] as const;

/** Everything that goes wrong there. */
export const SERVER_STEPS: readonly Step[] = [
  toStep("API server refuses", 4, ({ random, server, timeline }) => {
    const status = random.pick([409, 410, 429, 500, 503, 504]);
    const verb = random.pick(VERBS);
    const resource = random.pick(RESOURCES);
    const ms = random.between(500, 20_000);
    const rule = {
      status,
      ...(verb && { verb }),
      ...(resource && { resource }),
      ...(status === 429 || random.chance(0.3) ? { retryAfterSeconds: random.between(1, 8) } : {}),
    };
    timeline.schedule(ms, server.faults.refuse(rule));
    return `${JSON.stringify(rule)} for ${ms} ms`;
  }),
  // All connections are cut; then nobody listens; what was long ago is forgotten.
  toStep("API server restarts", 2, (world) => {
    const { random, server, incarnations } = world;
    const ms = random.between(500, 20_000);
    for (const link of incarnations.flatMap(({ kube, election }) => [kube, election])) {
      link.isRefused = true;
      link.reset();
    }
    if (random.chance(0.5)) server.compact();
    later(world, ms, () => {
      for (const { kube, election } of world.incarnations) {
        kube.isRefused = false;
        election.isRefused = false;
      }
    });
    return `for ${ms} ms`;
  }),
  toStep("watches end", 2, ({ random, server, incarnations }) => {
    const how = random.pick(["in good order", "by a reset", "too old", "too old, at opening"]);
    if (how.startsWith("too old")) {
      server.faults.goneForm = how === "too old" ? "stream" : "http";
      server.compact();
    }
    if (how === "too old") server.watches.expire();
    else if (how === "by a reset") for (const { kube } of incarnations) kube.reset();
    else server.watches.drop();
    return how;
  }),
  toStep("Lease edited by hand", 1, ({ random, server }) => {
    const holder = random.pick([undefined, undefined, "", "somebody"]);
    if (!server.editLease(holder)) return undefined;
    return holder === undefined ? "deleted" : `held by "${holder}"`;
  }),
];
