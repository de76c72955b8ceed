/**
 * `landfall demo vino`: the real controllers of Vinos and SIPClusters with a simulated Xen Orchestra, Kubernetes and
 * metal3.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../cloud/deletion/guard.ts";
import { DELETION as DELETION_SECTION } from "../../../cloud/settings/sections.ts";
import { sipClusterController } from "../../../controllers/sipcluster/definition.ts";
import { HOST_NAMESPACES_FLAG } from "../../../controllers/sipcluster/flags.ts";
import { vinoController } from "../../../controllers/vino/definition.ts";
import { VINOES } from "../../../controllers/vino/resource/vino.ts";
import { systemClock } from "../../../core/clock.ts";
import { formatDuration } from "../../../core/text/values.ts";
import { type DemoOptions, type Story, performStory } from "../perform.ts";
import { LEGEND } from "./looks.ts";
import { toVinoSpec } from "./specs.ts";
import { playVinoStory } from "./story.ts";
import { METAL, REFRESH_INTERVAL, VinoWorld } from "./world.ts";

/** Name of the file with a Vino to try. */
const VINO_FILE = "vino.json";

const DELETION: DeletionSettings = { ...DEFAULT_DELETION, fleetWindowMs: 3_000 };

/**
 * Plays the story. Without `--once`, the cluster keeps running until the signal aborts.
 *
 * @returns Exit code: 0 when every step succeeded, else 1
 */
export async function demoVinos(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const { clock = systemClock } = options.context;
  const world = await VinoWorld.start(clock);
  const { url, token } = world.cloud;
  const story: Story = {
    kubernetes: world.kubernetes.url,
    clock,
    controllers: [vinoController, sipClusterController],
    flags: { [HOST_NAMESPACES_FLAG.name]: METAL },
    page: "/debug/vinos",
    clients: { env: { XOA_URL: url, XOA_TOKEN: token } },
    left: "No Vino is left, and the VMs of lab stay in Xen Orchestra.",
    writeFiles: (folder) => writeFile(join(folder, VINO_FILE), toManifest()),
    listCommands: (folder) => [
      `kubectl create -f ${join(folder, VINO_FILE)}`,
      "landfall vinos",
      "landfall vinos mine",
      `kubectl get -n ${METAL} bmh -L vino.airshipit.org/host`,
      `kubectl get -n ${METAL} vino -w`,
    ],
    sections: new Map([[DELETION_SECTION.key, DELETION]]),
    createProvider: (deps) => world.createProvider(deps),
    introduce: ({ env, page }) => toIntroduction(world, env, page),
    begin: ({ tell }, running) => ({
      working: world.run(running),
      play: () => playVinoStory({ world, clock, tell }, running),
    }),
  };
  try {
    return await performStory(options, story, signal);
  } finally {
    await world.stop();
  }
}

/** A Vino to try, as JSON. */
function toManifest(): string {
  const manifest = {
    apiVersion: VINOES.apiVersion,
    kind: VINOES.kind,
    metadata: { name: "mine", namespace: METAL },
    spec: toVinoSpec(2),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

function toIntroduction({ kubernetes, cloud }: VinoWorld, env: string, page: string): string {
  return `\
A simulated Kubernetes API listens at ${kubernetes.url}
A simulated Xen Orchestra listens at ${cloud.url}: two pools, five XCP-ng hosts, and VMs of others. The
Vinos use the pool paris. There is a double of metal3's operator. Landfall itself is real. To keep the demo short, some
waits are shorter than usual:

  refreshInterval        ${REFRESH_INTERVAL}   usually 30s
  deletion.fleetWindow   ${formatDuration(DELETION.fleetWindowMs)}   usually 10m

Watch it in another terminal. ${env}
  kubectl get -n ${METAL} vino
  kubectl get -n ${METAL} bmh -L vino.airshipit.org/host
  kubectl get -A ippools${page}
  kubectl get -n ${METAL} vinomachines -w

The XCP-ng hosts of paris are drawn after each step, with the VMs of Vinos:

  ${LEGEND}`;
}
