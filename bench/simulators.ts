/**
 * The process beside the controller: the simulated Kubernetes API and Xen Orchestra, controlled by messages.
 *
 * Argument: the number of machines. The first message says where to connect; each question that arrives (`Question`) is
 * answered in order. The process ends when its parent ends.
 * @module
 */
import { systemClock } from "../lib/core/clock.ts";
import { startKubernetesSimulator } from "../lib/simulator/kubernetes/mod.ts";
import { createFleet, startXenOrchestraSimulator } from "../lib/simulator/xenorchestra/mod.ts";
import { act, ADMIN } from "./soak/acts.ts";
import { moveMany, runExperiments } from "./experiments.ts";
import { type Meter, startMeter } from "./meters/relay.ts";
import type { Question } from "./processes.ts";
import { isInitialised, Stage } from "./soak/stage.ts";

/** Where to connect. */
export interface Places {
  readonly kubernetesUrl: string;
  readonly cloudUrl: string;
  readonly token: string;
}

/** State of things. */
export interface Progress {
  /** Nodes without the taint, with a provider ID and an address. */
  readonly initialised: number;
  /** Requests to Xen Orchestra so far. */
  readonly cloudRequests: number;
  /** Bytes between Xen Orchestra and the controller so far, both ways. */
  readonly cloudBytes: number;
  /** Requests to Kubernetes so far, except those for the Lease. */
  readonly requests: number;
  /** Of those, the ones that write. */
  readonly writes: number;
  /** Bytes between Kubernetes and the controller so far, both ways. */
  readonly bytes: number;
  /** How often a kubelet reported that it is well, so far. */
  readonly heartbeats: number;
}

interface Meters {
  readonly kubernetes: Meter;
  readonly cloud: Meter;
}

const WRITE = /^(create|update|patch|delete) /;
const ELECTION = / leases\b/;

async function serve(count: number): Promise<void> {
  const clock = systemClock;
  const { world, machines } = createFleet(count);
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world, users: [ADMIN] });
  const meters = {
    kubernetes: await startMeter(kubernetes.url),
    cloud: await startMeter(cloud.url),
  };
  const stage = new Stage(kubernetes, cloud, [...machines.values()]);
  process.on("message", (question: Question) => {
    void answer(stage, meters, question).then((reply) => process.send?.(reply));
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({
    kubernetesUrl: meters.kubernetes.url,
    cloudUrl: meters.cloud.url,
    token: cloud.token,
  } satisfies Places);
}

async function answer(stage: Stage, meters: Meters, question: Question): Promise<object> {
  switch (question.ask) {
    case "experiments":
      return await runExperiments(stage);
    case "move":
      return await moveMany(stage, question.count, question.overMs);
    case "act":
      return act(stage, question.act, question.pick);
    case "register":
      for (const machine of stage.machines) stage.register(machine);
      return toProgress(stage, meters);
    case "heartbeats":
      stage.keepHeartbeats(question.periodMs);
      return toProgress(stage, meters);
    case "progress":
      return toProgress(stage, meters);
  }
}

function toProgress({ kubernetes, cloud, heartbeats }: Stage, meters: Meters): Progress {
  const counts = [...kubernetes.requests.counts].filter(([key]) => !ELECTION.test(key));
  return {
    heartbeats,
    initialised: kubernetes.objects.list("nodes").filter(isInitialised).length,
    cloudRequests: cloud.requests.total,
    cloudBytes: meters.cloud.bytes,
    requests: counts.reduce((sum, [, times]) => sum + times, 0),
    writes: counts.reduce((sum, [key, times]) => sum + (WRITE.test(key) ? times : 0), 0),
    bytes: meters.kubernetes.bytes,
  };
}

if (import.meta.main) await serve(Number(process.argv[2]));
