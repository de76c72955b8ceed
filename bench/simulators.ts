/**
 * The process beside the controller: the simulated Kubernetes API and cloud, controlled by messages.
 *
 * Arguments: the cloud, and the number of machines. The first message says where to connect; each question that arrives
 * (`Question`) is answered in order. The process ends when its parent ends.
 * @module
 */
import { assert } from "../lib/core/errors.ts";
import { systemClock } from "../lib/core/clock.ts";
import { startKubernetesSimulator } from "../lib/simulator/kubernetes/mod.ts";
import { type CloudName, readCloudName } from "./clouds/mod.ts";
import { openCloud } from "./clouds/open.ts";
import { moveMany, runExperiments } from "./experiments.ts";
import { type Meter, startMeter } from "./meters/relay.ts";
import { act, type ActName } from "./soak/acts.ts";
import {
  CloudStackStage,
  isInitialised,
  isServed,
  type ServiceOptions,
  type Stage,
  XenOrchestraStage,
} from "./stage.ts";

/** The questions to the simulators. */
export type Question =
  | { readonly ask: "progress" }
  | { readonly ask: "register" }
  | ({ readonly ask: "services" } & ServiceOptions)
  | { readonly ask: "vinos" }
  | { readonly ask: "machines"; readonly count: number }
  | { readonly ask: "exclude"; readonly isOut: boolean }
  | { readonly ask: "balancers" }
  | { readonly ask: "heartbeats"; readonly periodMs: number | undefined }
  | { readonly ask: "experiments" }
  | { readonly ask: "move"; readonly count: number; readonly overMs: number }
  | { readonly ask: "act"; readonly act: ActName; readonly pick: number };

/** Where to connect. */
export interface Places {
  readonly kubernetesUrl: string;
  readonly cloud: CloudName;
  readonly cloudUrl: string;
  /** What the cloud accepts, by the name of the file in which its settings look for it. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** State of things. */
export interface Progress {
  /** Nodes without the taint, with a provider ID and an address. */
  readonly initialised: number;
  /** Services whose status shows an address. */
  readonly served: number;
  /** Machines of Vinos that are complete and published as hosts. */
  readonly published: number;
  /** Requests to the cloud so far. */
  readonly cloudRequests: number;
  /** Bytes between the cloud and the controller so far, both ways. */
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

/** Load balancers in CloudStack. */
export interface BalancerProgress {
  /** Requests so far, by command. */
  readonly commands: Readonly<Record<string, number>>;
  readonly rules: number;
  /** Rules that send traffic to the first Node. */
  readonly rulesToFirst: number;
}

interface Meters {
  readonly kubernetes: Meter;
  readonly cloud: Meter;
}

const WRITE = /^(create|update|patch|delete) /;
const ELECTION = / leases\b/;

async function serve(name: CloudName, count: number): Promise<void> {
  const clock = systemClock;
  const kubernetes = startKubernetesSimulator({ clock });
  const { stage, secrets } = await openCloud(name, { clock, kubernetes, count });
  const { origin } = new URL(stage.cloud.url);
  const meters = {
    kubernetes: await startMeter(kubernetes.url),
    cloud: await startMeter(origin),
  };
  process.on("message", (question: Question) => {
    void answer(stage, meters, question).then((reply) => process.send?.(reply));
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({
    kubernetesUrl: meters.kubernetes.url,
    cloud: name,
    cloudUrl: stage.cloud.url.replace(origin, meters.cloud.url),
    secrets,
  } satisfies Places);
}

async function answer(stage: Stage, meters: Meters, question: Question): Promise<object> {
  switch (question.ask) {
    case "experiments":
      return await runExperiments(stage);
    case "move":
      return await moveMany(requireHosts(stage), question.count, question.overMs);
    case "act":
      return act(requireHosts(stage), question.act, question.pick);
    case "register":
      for (const machine of stage.machines) stage.register(machine);
      return toProgress(stage, meters);
    case "services":
      stage.createServices(question);
      return toProgress(stage, meters);
    case "vinos":
      requireHosts(stage).prepareVinos();
      return {};
    case "machines":
      requireHosts(stage).wantMachines(question.count);
      return toProgress(stage, meters);
    case "exclude":
      stage.excludeFirst(question.isOut);
      return {};
    case "balancers":
      return toBalancers(stage);
    case "heartbeats":
      stage.keepHeartbeats(question.periodMs);
      return toProgress(stage, meters);
    case "progress":
      return toProgress(stage, meters);
  }
}

function requireHosts(stage: Stage): XenOrchestraStage {
  assert(stage instanceof XenOrchestraStage, "only machines of Xen Orchestra have hosts here");
  return stage;
}

function toBalancers(stage: Stage): BalancerProgress {
  assert(stage instanceof CloudStackStage, "only CloudStack has load balancers here");
  const { state, requests } = stage.cloud;
  const rules = [...state.loadBalancerRules.values()];
  const address = stage.machines[0]?.address ?? "";
  const toFirst = rules.filter((rule) => rule.applied?.backends.includes(address));
  return {
    commands: Object.fromEntries(requests.byCommand),
    rules: rules.length,
    rulesToFirst: toFirst.length,
  };
}

function toProgress(stage: Stage, meters: Meters): Progress {
  const { kubernetes, cloud, heartbeats } = stage;
  const counts = [...kubernetes.requests.counts].filter(([key]) => !ELECTION.test(key));
  return {
    heartbeats,
    published: stage instanceof XenOrchestraStage ? stage.published : 0,
    served: kubernetes.objects.list("services").filter(isServed).length,
    initialised: kubernetes.objects.list("nodes").filter(isInitialised).length,
    cloudRequests: cloud.requests.total,
    cloudBytes: meters.cloud.bytes,
    requests: counts.reduce((sum, [, times]) => sum + times, 0),
    writes: counts.reduce((sum, [key, times]) => sum + (WRITE.test(key) ? times : 0), 0),
    bytes: meters.kubernetes.bytes,
  };
}

if (import.meta.main) {
  const [cloud = "", count] = process.argv.slice(2);
  await serve(readCloudName("the cloud", cloud), Number(count));
}
