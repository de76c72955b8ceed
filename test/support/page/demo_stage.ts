/**
 * A stage of the demo's story on which no controller plays.
 * @module
 */
import { ClusterView } from "../../../lib/cli/demo/cluster.ts";
import { Kubelets } from "../../../lib/cli/demo/kubelets.ts";
import type { Stage } from "../../../lib/cli/demo/stage.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { EVENTS, type KubeEvent } from "../../../lib/kube/kinds/event.ts";
import { NODES, type Node } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";

/** A stage, what it was told, and what clears it. */
export interface EmptyStage extends AsyncDisposable {
  readonly stage: Stage;
  readonly lines: readonly string[];
}

/** Nothing moves on it by itself: no controller, no watch, silent kubelets. */
export async function setStage(more: Partial<Stage> = {}): Promise<EmptyStage> {
  const clock = systemClock;
  const log = silentLogger;
  const world = createDemoWorld();
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  const view = new ClusterView(
    new Store<Node>({ resource: NODES, log }),
    new Store<KubeEvent>({ resource: EVENTS, log }),
  );
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  const lines: string[] = [];
  const tell = (line: string): number => lines.push(line);
  const stage = { kubernetes, cloud, world, view, kubelets, clock, tell, stepMsMax: 10 };
  return {
    stage: { ...stage, deletion: DEFAULT_DELETION, ...more },
    lines,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([kubernetes.stop(), cloud.stop()]);
    },
  };
}
