/**
 * `landfall demo`: the controllers of Nodes and Services with a simulated Kubernetes and a simulated cloud.
 * @module
 */
import { DEFAULT_DELETION, type DeletionSettings } from "../../../cloud/deletion/guard.ts";
import {
  DEFAULT_OUT_OF_SERVICE,
  type OutOfServiceSettings,
} from "../../../cloud/deletion/streak.ts";
import { LOAD_BALANCERS as LOAD_BALANCERS_SECTION } from "../../../cloud/pools/settings.ts";
import {
  DELETION as DELETION_SECTION,
  OUT_OF_SERVICE as OUT_OF_SERVICE_SECTION,
} from "../../../cloud/settings/sections.ts";
import { isSeparable } from "../../../controllers/definition.ts";
import { CONTROLLERS } from "../../../controllers/mod.ts";
import { systemClock } from "../../../core/clock.ts";
import { formatDuration } from "../../../core/text/values.ts";
import { Caches } from "../../../kube/cache/caches.ts";
import { EVENTS } from "../../../kube/kinds/event.ts";
import { NODES } from "../../../kube/kinds/node.ts";
import { SERVICES } from "../../../kube/kinds/service.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../simulator/kubernetes/mod.ts";
import { startCloud } from "../clouds/mod.ts";
import { ClusterView } from "../cluster.ts";
import { countWrites, formatFigures } from "../figures.ts";
import { Kubelets, SILENCE_MS } from "../kubelets.ts";
import {
  type DemoOptions,
  type Performance,
  performStory,
  type Story,
  type StoryParts,
} from "../perform.ts";
import { printChanges } from "../printer.ts";
import { playSteps } from "../steps.ts";
import { type CloudStep, type Setting, type Stage } from "./stage.ts";
import { toJoinSteps, toLossSteps, POWER_STEPS } from "./steps.ts";

// Waits that are shorter in the demo than usual. Its introduction shows both values.
const REFRESH_INTERVAL = "1s";
const NODE_MONITOR_PERIOD_MS = 1_000;
const SERVICE_SYNC_PERIOD_MS = 3_000;
const DELETION: DeletionSettings = { ...DEFAULT_DELETION, holdOffMs: 3_000 };
const OUT_OF_SERVICE: OutOfServiceSettings = { ...DEFAULT_OUT_OF_SERVICE, graceMs: 2_000 };

/**
 * Plays the story on the chosen cloud. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function demoCloud(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const { clock = systemClock } = options.context;
  const kubernetes = startKubernetesSimulator({ clock });
  const setting = await startCloud(options.flags.cloud, clock);
  const { cloud } = setting;
  const story: Story = {
    kubernetes: kubernetes.url,
    clock,
    // The simulated cluster has no kinds of their own for the others; they have demos of their own.
    controllers: CONTROLLERS.filter((one) => !isSeparable(one)),
    waits: {
      "node-monitor-period": NODE_MONITOR_PERIOD_MS,
      "node-out-of-service-sync-period": NODE_MONITOR_PERIOD_MS,
      "service-sync-period": SERVICE_SYNC_PERIOD_MS,
    },
    sections: new Map<string, unknown>([
      [DELETION_SECTION.key, DELETION],
      [OUT_OF_SERVICE_SECTION.key, OUT_OF_SERVICE],
      [LOAD_BALANCERS_SECTION.key, cloud.addressPools ?? LOAD_BALANCERS_SECTION.standard],
    ]),
    page: "/debug/",
    clients: cloud.clients,
    listCommands: () => [
      "landfall nodes",
      "kubectl get nodes -L topology.kubernetes.io/zone",
      ...cloud.clients.commands,
      "landfall services",
      "kubectl get events -A",
      "kubectl get nodes -w",
    ],
    createProvider: (deps) => cloud.createProvider(REFRESH_INTERVAL, deps),
    introduce: ({ env, page }) =>
      toIntroduction(
        kubernetes.url,
        setting,
        `${env}
  landfall check${page}
  kubectl get nodes -w -L topology.kubernetes.io/zone`,
      ),
    begin: (parts, running) => begin(kubernetes, setting, parts, running),
  };
  try {
    return await performStory(options, story, signal);
  } finally {
    await Promise.all([kubernetes.stop(), cloud.stop()]);
  }
}

/** The whole story on one cloud. */
export function toSteps({ cloud, steps }: Setting): readonly CloudStep[] {
  return [
    ...toJoinSteps(cloud, steps.join),
    ...steps.live,
    ...POWER_STEPS,
    ...steps.volumes,
    ...steps.services,
    ...toLossSteps(cloud),
  ];
}

function begin(
  kubernetes: KubernetesSimulator,
  setting: Setting,
  { client, clock, log, tell }: StoryParts,
  signal: AbortSignal,
): Performance {
  const { cloud } = setting;
  const caches = new Caches({ client, clock, log });
  const view = new ClusterView({
    nodes: caches.reader(NODES),
    services: caches.reader(SERVICES),
    events: caches.reader(EVENTS),
  });
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  const stage: Stage = { kubernetes, cloud, view, kubelets, deletion: DELETION, clock, tell };
  const quiet = printChanges(stage);
  signal.addEventListener("abort", quiet, { once: true });
  let tookMs = 0;
  return {
    working: Promise.all([caches.run(signal), kubelets.run(signal)]),
    play: async () => {
      const startMs = clock.monotonic();
      const isTrue = await playSteps(stage, { steps: toSteps(setting) }, signal);
      tookMs = clock.monotonic() - startMs;
      return isTrue;
    },
    summarize: () =>
      formatFigures({
        cloud,
        cloudRequests: cloud.countRequests(),
        passes: cloud.countPasses(),
        writes: countWrites(kubernetes.requests),
        nodes: cloud.machines.size + 1,
        durationMs: tookMs,
      }),
  };
}

/** Says what runs, which waits are shorter than usual, and how to watch. Without a newline at its end. */
function toIntroduction(kubernetes: string, { cloud, steps }: Setting, howToWatch: string): string {
  const holdOff = formatDuration(DELETION.holdOffMs);
  const grace = formatDuration(OUT_OF_SERVICE.graceMs);
  const period = formatDuration(NODE_MONITOR_PERIOD_MS);
  const syncPeriod = formatDuration(SERVICE_SYNC_PERIOD_MS);
  const silence = formatDuration(SILENCE_MS);
  const hasOutOfService = steps.volumes.length > 0;
  const hasServices = steps.services.length > 0;
  return `\
A simulated Kubernetes API listens at ${kubernetes}
A simulated ${cloud.title} listens at ${cloud.url}: ${cloud.summary}

Landfall itself is real. To keep the demo short, some waits are shorter than usual:

  refreshInterval            ${REFRESH_INTERVAL}   usually 30s
  deletion.holdOff           ${holdOff}   usually 60s
${hasOutOfService ? `  outOfService.graceDuration ${grace}   usually 30s\n` : ""}\
  --node-monitor-period      ${period}   usually 5s
${hasServices ? `  --service-sync-period      ${syncPeriod}   usually 10m\n` : ""}\
  kubelet silent: NotReady   ${silence}   usually 50s

Watch it in another terminal. ${howToWatch}`;
}
