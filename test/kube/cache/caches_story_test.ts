import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { describeCaches } from "../../support/kube/caches_story.ts";

describeCaches("the simulator", async () => {
  const simulator = startKubernetesSimulator({ clock: systemClock });
  return {
    baseUrl: simulator.url,
    credentials: { master: simulator.url },
    fetch: (path, init) => fetch(`${simulator.url}${path}`, init),
    compact: async () => simulator.compact(),
    installKind: async (kind) => simulator.installKind(kind),
    removeKind: async ({ plural }) => simulator.removeKind(plural),
    stop: () => simulator.stop(),
  };
});
