/**
 * What people do to the settings while the processes run.
 * @module
 */
import { type Said, type Saying, toSaying } from "../world/settings_file.ts";
import type { World } from "../world/mod.ts";
import { later, type Step, toStep } from "./mod.ts";

/** How long a new file takes to each replica, at most: the nodes of a cluster mount it one after the other. */
const SPREAD_MS_MAX = 15_000;
/** How long a wrong one stands, at most. */
const WRONG_MS_MAX = 60_000;

/** Everything that happens to settings. */
export const SETTINGS_STEPS: readonly Step[] = [
  toStep("settings edited", 2, (world) => {
    world.said = draw(world);
    world.cloud.retag(world.machines.values());
    spread(world, toSaying(world.cloud, world.said));
    return JSON.stringify(world.said);
  }),
  toStep("comment in the settings edited", 0.5, (world) => {
    const note = `as of ${world.random.between(1, 1e6)}`;
    spread(world, toSaying(world.cloud, world.said, note));
    return note;
  }),
  // What cannot be used is refused; the old settings stay.
  toStep("settings spoilt", 1, (world) => {
    const { random, cloud, said } = world;
    const wrong = random.pick(cloud.listSpoilt(toSaying(cloud, said).text ?? ""));
    const ms = mendLater(world, { text: wrong, said: undefined });
    return `${JSON.stringify(wrong ?? "gone")} for ${ms} ms`;
  }),
  // The secret alone, and a wrong one: nobody can tell but the cloud.
  toStep("wrong secret in the settings", 0.5, (world) => {
    const ms = mendLater(
      world,
      toSaying(world.cloud, { ...world.said, token: `not-${world.said.token}` }),
    );
    return `for ${ms} ms`;
  }),
];

/** The hold-off is never below that of the story: how long a move to another pool may take goes by it. */
function draw(world: World): Said {
  const { random, settings, said } = world;
  const { deletion } = settings;
  return {
    ...said,
    deletion: {
      enabled: random.chance(0.85),
      confirmations: random.between(1, 3),
      holdOffMs: deletion.holdOffMs + random.pick([0, 0, 10_000, 30_000]),
      fleetShare: random.pick([deletion.fleetShare, 0.34, 0.5, 1]),
      fleetWindowMs: random.pick([deletion.fleetWindowMs, 60_000, 120_000, 600_000]),
      whileOtherPartsAreLost: random.chance(0.5),
      includesUninitialized: false,
    },
    refreshIntervalMs: random.pick([settings.refreshIntervalMs, 15_000, 20_000]),
    leavesAddresses: world.leftAddresses.draw(),
    labels: world.cloud.drawLabels(random, said.labels),
  };
}

/** To each replica at a moment of its own, unless something newer is on its way. */
export function spread(world: World, saying: Saying): void {
  for (const { file } of world.replicas) {
    later(world, world.random.between(0, SPREAD_MS_MAX), () => {
      if (saying.said === world.said) file.write(saying);
    });
  }
}

/** To one replica or to all, until somebody sees it. Returns after how many milliseconds that is. */
function mendLater(world: World, saying: Saying): number {
  const { random, replicas } = world;
  const files = random.chance(0.5) ? replicas : [random.pick(replicas)];
  for (const { file } of files) file.write(saying);
  const ms = random.between(1_000, WRONG_MS_MAX);
  later(world, ms, () => {
    for (const { file } of files)
      if (file.saying === saying) file.write(toSaying(world.cloud, world.said));
  });
  return ms;
}
