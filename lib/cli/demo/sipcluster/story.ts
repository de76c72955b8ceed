/**
 * The steps of the demo of SIPClusters: two tenants, what happens to their hosts, and how racks are drawn.
 * @module
 */
import type { SipClusterSpec } from "../../../controllers/sipcluster/resource/sip_cluster.ts";
import {
  CLUSTER_NAME,
  CLUSTER_NAMESPACE,
  NODE_TYPE,
  STANDBY,
} from "../../../controllers/sipcluster/words.ts";
import type { ApiObject } from "../../../simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../simulator/kubernetes/patches/json.ts";
import { consumerOf, pathOf } from "../../../simulator/metal3/host_state.ts";
import { breakHost, HOST_LABELS, OAM_NETWORK } from "../../../simulator/metal3/hosts.ts";
import { conditionOf, labelOf, messageOf } from "../objects.ts";
import { type BareStage, becomes, playSteps, type Step } from "../steps.ts";
import { HOSTS, type SipWorld, TENANTS } from "./world.ts";

/** What the steps work with. */
interface SipStage extends BareStage {
  readonly world: SipWorld;
}

const PORTS: Readonly<Record<string, number>> = { blue: 30_001, red: 30_002 };
const READY = "True ReconciliationSucceeded";

/** All steps, in order. */
const SIP_STEPS: readonly Step<SipStage>[] = [
  {
    title: "blue asks for 3 control planes in different racks, 3 workers and 1 standby",
    play: (stage, signal) => {
      order(stage, "blue", { controlPlanes: 3, workers: 3, standby: 1 });
      return becomes(stage, signal, () => isReady(stage, "blue") && countOf(stage, "blue") === 7);
    },
  },
  {
    title: "red asks for more workers than there are: it gets no host at all, and learns why",
    play: async (stage, signal) => {
      order(stage, "red", { controlPlanes: 2, workers: 9 });
      const isTold = await becomes(stage, signal, () =>
        conditionOf(stage.world.find("red")).startsWith("False Uns"),
      );
      stage.tell(`  !  ${messageOf(stage.world.find("red"), "Scheduled")}`);
      return isTold && countOf(stage, "red") === 0;
    },
  },
  {
    title: "red asks for less, and gets all of it",
    play: (stage, signal) => {
      order(stage, "red", { controlPlanes: 2, workers: 4 });
      return becomes(stage, signal, () => isReady(stage, "red") && countOf(stage, "red") === 6);
    },
  },
  {
    title: "Cluster API installs machines of blue on hosts that it picks at random among blue's",
    play: (stage, signal) => {
      addMachines(stage, "blue");
      return becomes(stage, signal, () => usedOf(stage, "blue").length === 5);
    },
  },
  {
    title: "A host of red breaks: another one takes its place",
    play: async (stage, signal) => {
      const host = hostsOf(stage, "red").at(-1);
      if (host === undefined) return false;
      const { name } = host.metadata;
      stage.tell(`  >  ${name} reports an error`);
      breakHost(stage.world.kubernetes.objects, pathOf(host), "the power supply failed");
      return await becomes(stage, signal, () => {
        const names = hostsOf(stage, "red").map(({ metadata }) => metadata.name);
        return names.length === 6 && !names.includes(name) && isReady(stage, "red");
      });
    },
  },
  {
    title: "blue shrinks to 1 worker: spare hosts go back at once, hosts in use stay and are named",
    play: async (stage, signal) => {
      order(stage, "blue", { controlPlanes: 3, workers: 1 });
      const isBlocked = await becomes(stage, signal, () =>
        conditionOf(stage.world.find("blue"), "ContractionBlocked").startsWith("True"),
      );
      stage.tell(`  !  ${messageOf(stage.world.find("blue"), "ContractionBlocked")}`);
      return isBlocked && usedOf(stage, "blue").length === 5;
    },
  },
  {
    title: "Cluster API deletes a worker of blue: when its host is clean, it goes back",
    play: (stage, signal) => {
      const { clusterApi } = stage.world;
      const machine = clusterApi.list().find(({ name }) => name === "blue-worker-2");
      if (machine === undefined) return Promise.resolve(false);
      stage.tell(`  >  Cluster API deletes ${machine.name}`);
      clusterApi.remove(machine);
      return becomes(
        stage,
        signal,
        () =>
          countOf(stage, "blue") === 4 &&
          conditionOf(stage.world.find("blue"), "ContractionBlocked").startsWith("False"),
      );
    },
  },
  {
    title: "red is deleted: its services and labels go, and nothing is left",
    play: (stage, signal) => {
      stage.tell("  >  kubectl deletes the SIPCluster red");
      stage.world.delete("red");
      const { objects } = stage.world.kubernetes;
      const listLeft = (): readonly ApiObject[] =>
        ["services", "deployments", "configmaps"].flatMap((plural) =>
          objects.list(plural, TENANTS).filter(({ metadata }) => metadata.name.endsWith("-red")),
        );
      return becomes(
        stage,
        signal,
        () =>
          stage.world.find("red") === undefined && countOf(stage, "red") + listLeft().length === 0,
      );
    },
  },
];

/** Plays all steps in order, even after one failed. Returns whether every step succeeded. */
export function playSipStory(stage: SipStage, signal: AbortSignal): Promise<boolean> {
  return playSteps(stage, { steps: SIP_STEPS, draw: () => drawRacks(stage.world.hosts) }, signal);
}

function order(
  { world, tell }: SipStage,
  name: string,
  wish: { readonly controlPlanes: number; readonly workers: number; readonly standby?: number },
): void {
  const { controlPlanes, workers, standby = 0 } = wish;
  tell(`  >  kubectl applies the SIPCluster ${name}`);
  const select = (flavor: string): object => ({ matchLabels: { [HOST_LABELS.flavor]: flavor } });
  const spec: SipClusterSpec = {
    nodes: {
      ControlPlane: {
        labelSelector: select("control-plane"),
        topologyKey: HOST_LABELS.rack,
        count: { active: controlPlanes, standby: 0 },
      },
      Worker: {
        labelSelector: select("worker"),
        topologyKey: HOST_LABELS.host,
        count: { active: workers, standby },
      },
    },
    services: {
      loadBalancerControlPlane: [{ nodeInterfaceId: OAM_NETWORK, nodePort: PORTS[name] ?? 0 }],
    },
  };
  world.apply(name, spec);
}

function addMachines({ world, tell }: SipStage, cluster: string): void {
  tell("  >  Cluster API makes 3 control planes and 2 workers");
  const roles = { controlplane: ["ControlPlane", 3], worker: ["Worker", 2] } as const;
  for (const [kind, [role, count]] of Object.entries(roles)) {
    const hostSelector = {
      [CLUSTER_NAMESPACE]: TENANTS,
      [CLUSTER_NAME]: cluster,
      [NODE_TYPE]: role,
    };
    for (let at = 1; at <= count; at += 1) {
      world.clusterApi.add({ namespace: HOSTS, name: `${cluster}-${kind}-${at}`, hostSelector });
    }
  }
}

function hostsOf({ world }: SipStage, cluster: string): readonly ApiObject[] {
  return world.hosts.filter((host) => labelOf(host, CLUSTER_NAME) === cluster);
}

function countOf(stage: SipStage, cluster: string): number {
  return hostsOf(stage, cluster).length;
}

function usedOf(stage: SipStage, cluster: string): readonly ApiObject[] {
  return hostsOf(stage, cluster).filter((host) => consumerOf(host) !== undefined);
}

function isReady(stage: SipStage, cluster: string): boolean {
  return conditionOf(stage.world.find(cluster)) === READY;
}

/** What the marks mean. */
export const LEGEND =
  "b blue has it   B and a machine runs on it   b* standby   r, R the same for red   . free   x broken";

/** A line for each rack: `r1  control-plane b .   worker B b* . x`. */
function drawRacks(hosts: readonly ApiObject[]): readonly string[] {
  const racks = Map.groupBy(hosts, (host) => labelOf(host, HOST_LABELS.rack));
  return [...racks].map(([rack, inside]) => {
    const flavors = Map.groupBy(inside, (host) => labelOf(host, HOST_LABELS.flavor));
    const parts = [...flavors].map(
      ([flavor, some]) => `${flavor} ${some.map((host) => toMark(host).padEnd(2)).join(" ")}`,
    );
    return `     ${rack}   ${parts.join("   ")}`.trimEnd();
  });
}

function toMark(host: ApiObject): string {
  const cluster = labelOf(host, CLUSTER_NAME);
  const isBroken = stringAt(objectAt(host, "status"), "errorMessage") !== "";
  if (isBroken) return "x";
  if (cluster === "") return ".";
  const letter = cluster.slice(0, 1);
  const mark = consumerOf(host) === undefined ? letter : letter.toUpperCase();
  return labelOf(host, STANDBY) === "true" ? `${mark}*` : mark;
}
