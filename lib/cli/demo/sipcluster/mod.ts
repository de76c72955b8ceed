/**
 * `landfall demo sipcluster`: the real controller of SIPClusters with a simulated Kubernetes and simulated metal3.
 * @module
 */
import { sipClusterController } from "../../../controllers/sipcluster/definition.ts";
import { ERROR_GRACE_FLAG, HOST_NAMESPACES_FLAG } from "../../../controllers/sipcluster/flags.ts";
import { systemClock } from "../../../core/clock.ts";
import { startKubernetesSimulator } from "../../../simulator/kubernetes/mod.ts";
import { type DemoOptions, performStory, type Story } from "../perform.ts";
import { LEGEND, playSipStory } from "./story.ts";
import { HOSTS, SipWorld, TENANTS } from "./world.ts";

/**
 * Plays the story. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function demoSipClusters(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const { clock = systemClock } = options.context;
  const kubernetes = startKubernetesSimulator({ clock });
  const world = new SipWorld(kubernetes, clock);
  try {
    const story: Story = {
      kubernetes: kubernetes.url,
      clock,
      controllers: [sipClusterController],
      flags: { [HOST_NAMESPACES_FLAG.name]: HOSTS, [ERROR_GRACE_FLAG.name]: 1_000 },
      page: "/debug/sipclusters",
      clients: { env: {} },
      left: "The SIPCluster blue has its hosts, and one host is broken.",
      listCommands: () => [
        "landfall sipclusters",
        "landfall sipclusters blue",
        `kubectl get -n ${TENANTS} sipclusters`,
        `kubectl describe -n ${TENANTS} sipcluster blue`,
        `kubectl get -n ${HOSTS} bmh -L sip.airshipit.org/cluster-name`,
      ],
      introduce: ({ env, page }) => toIntroduction(kubernetes.url, env, page),
      begin: ({ tell }, running) => ({
        working: world.run(running),
        play: () => playSipStory({ world, clock, tell }, running),
      }),
    };
    return await performStory(options, story, signal);
  } finally {
    await kubernetes.stop();
  }
}

function toIntroduction(kubernetes: string, env: string, page: string): string {
  return `\
A simulated Kubernetes API listens at ${kubernetes}: 18 BareMetalHosts in 3 racks, and doubles of metal3's
operator, of its provider for Cluster API, and of what starts Pods. Landfall itself is real. It runs with
--${HOST_NAMESPACES_FLAG.name}=${HOSTS}: SIPClusters may take the hosts of that namespace. A host
that is in error is replaced after a second: --${ERROR_GRACE_FLAG.name}=1s, usually 10m.

Watch it in another terminal. ${env}${page}
  kubectl get -n tenants sipclusters -w

Racks are drawn after each step:

  ${LEGEND}`;
}
