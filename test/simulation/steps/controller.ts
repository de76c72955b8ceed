/**
 * What may happen to the API server of replicas with chosen controllers, to their processes, and to their network.
 * @module
 */
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import type { ApiServer } from "../world/api_server.ts";
import type { ControllerProcess, ControllerReplica } from "../world/metal_world.ts";
import { type Step, toStep, toStepOf } from "./mod.ts";

/** What these steps need of a world. */
interface ControllerWorld {
  readonly random: Random;
  readonly timeline: Timeline;
  readonly server: ApiServer;
  readonly replicas: readonly ControllerReplica[];
}

/** What happens to the API server. @param resources Of which requests for one resource are refused */
export function listServerSteps(resources: readonly string[]): readonly Step<ControllerWorld>[] {
  return [
    toStep("API server refuses", 5, ({ random, server, timeline }) => {
      const status = random.pick([409, 429, 500, 503, 504]);
      const verb = random.pick([undefined, "get", "list", "patch", "create", "delete"] as const);
      const resource = random.pick([undefined, ...resources]);
      const ms = random.between(500, 20_000);
      const rule = { status, ...(verb && { verb }), ...(resource && { resource }) };
      timeline.schedule(ms, server.faults.refuse(rule));
      return `${JSON.stringify(rule)} for ${ms} ms`;
    }),
    toStep("watches end", 3, ({ random, server }) => {
      const how = random.pick(["in order", "too old"]);
      if (how === "too old") {
        server.compact();
        server.watches.expire();
      } else server.watches.drop();
      return how;
    }),
  ];
}

/** What happens to processes. */
export const CONTROLLER_PROCESS_STEPS: readonly Step<ControllerWorld>[] = [
  onProcess("SIGKILL", 4, (world, { process }) => {
    world.replicas.find(({ current }) => current?.process === process)?.kill();
  }),
  onProcess("SIGTERM", 1, (_world, { stop }) => stop.abort(new Error("SIGTERM"))),
  onProcess("SIGSTOP", 2, ({ random, timeline }, { process }) => {
    process.pause();
    timeline.schedule(random.between(1_000, 40_000), () => process.resume(random.chance(0.5)));
  }),
  onProcess("network cut", 3, ({ random, timeline }, { kube, election }) => {
    const links = random.pick([[kube], [kube, election]]);
    for (const link of links) link.isSevered = true;
    timeline.schedule(random.between(1_000, 60_000), () => {
      for (const link of links) link.isSevered = false;
    });
  }),
  onProcess("network loses", 4, ({ random, timeline }, { kube }) => {
    kube.lossShare = random.pick([0.05, 0.2, 0.5]);
    timeline.schedule(random.between(5_000, 60_000), () => {
      kube.lossShare = 0;
    });
  }),
  onProcess("network slow", 2, ({ random, timeline }, { kube }) => {
    kube.delayMs = [1, random.pick([200, 1_000, 6_000])];
    timeline.schedule(random.between(5_000, 60_000), () => kube.calm());
  }),
];

/** Something that happens to a process that runs. */
export function onProcess<W extends ControllerWorld>(
  name: string,
  weight: number,
  act: (world: W, process: ControllerProcess) => void,
): Step<W> {
  const list = ({ replicas }: W) => replicas.flatMap(({ current }) => current ?? []);
  return toStepOf(name, weight, list, (world, one) => {
    act(world, one);
    return one.process.name;
  });
}

/** Clocks go up to one in a hundred too fast or too slow. */
const RATE_SPREAD = 0.02;

/** Starts what has ended, on a machine whose clocks are a little off. */
export function supervise({
  replicas,
  random,
}: Pick<ControllerWorld, "random" | "replicas">): void {
  for (const replica of replicas) {
    if (replica.current !== undefined) continue;
    replica.start({ rate: 1 + (random.next() - 0.5) * RATE_SPREAD, skewMs: 0 });
  }
}

/** Ends what goes wrong with the API server, processes and networks. */
export function endFaults({
  server,
  replicas,
}: Pick<ControllerWorld, "replicas" | "server">): void {
  server.faults.clear();
  for (const { kube, election, cloud, process } of replicas.flatMap(
    ({ incarnations }) => incarnations,
  )) {
    for (const link of [kube, election, cloud]) link.heal();
    process.resume();
  }
}
