/**
 * What happens to the processes themselves, and to the network between them and everything else.
 * @module
 */
import type { Link } from "../world/link.ts";
import type { Incarnation } from "../world/replica.ts";
import type { World } from "../world/mod.ts";
import { later, type Step, toStepOf } from "./mod.ts";

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
