/**
 * A stage of the demo's story on which no controller plays.
 * @module
 */
import type { DemoCloud } from "../../../lib/cli/demo/cloud.ts";
import { ClusterView } from "../../../lib/cli/demo/cluster.ts";
import { startCloud } from "../../../lib/cli/demo/clouds/mod.ts";
import { Kubelets } from "../../../lib/cli/demo/kubelets.ts";
import type { Setting, Stage } from "../../../lib/cli/demo/story/stage.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { EVENTS, type KubeEvent } from "../../../lib/kube/kinds/event.ts";
import { NODES, type Node } from "../../../lib/kube/kinds/node.ts";
import { SERVICES, type Service } from "../../../lib/kube/kinds/service.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

/** A stage, what it was told, and what clears it. */
interface EmptyStage extends AsyncDisposable {
  readonly stage: Stage;
  readonly setting: Setting;
  readonly lines: readonly string[];
  readonly nodes: Store<Node>;
  readonly events: Store<KubeEvent>;
}

interface StageOptions extends Partial<Omit<Stage, "cloud">> {
  /** Name of the cloud. @default {"xenorchestra"} */
  readonly on?: string;
  /** Parts of the cloud that differ. */
  readonly cloud?: Partial<DemoCloud>;
}

/** Nothing moves on it by itself: no controller, no watch, silent kubelets. */
export async function setStage(options: StageOptions = {}): Promise<EmptyStage> {
  const { on = "xenorchestra", cloud: changes, ...more } = options;
  const clock = systemClock;
  const kubernetes = startKubernetesSimulator({ clock });
  const setting = await startCloud(on, clock);
  const log = silentLogger;
  const nodes = new Store<Node>({ resource: NODES, log });
  const services = new Store<Service>({ resource: SERVICES, log });
  const events = new Store<KubeEvent>({ resource: EVENTS, log });
  const view = new ClusterView({ nodes, services, events });
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  const lines: string[] = [];
  const tell = (line: string): number => lines.push(line);
  const cloud = { ...setting.cloud, ...changes };
  const stage = { kubernetes, cloud, view, kubelets, clock, tell, stepMsMax: 10 };
  return {
    stage: { ...stage, deletion: DEFAULT_DELETION, ...more },
    setting,
    lines,
    nodes,
    events,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([kubernetes.stop(), setting.cloud.stop()]);
    },
  };
}
