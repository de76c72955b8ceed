import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { describeKubernetesContract } from "../../support/kube/contract/kubernetes.ts";

describeKubernetesContract("startKubernetesSimulator()", async () => {
  const simulator = startKubernetesSimulator({ clock: systemClock });
  return {
    baseUrl: simulator.url,
    fetch: (path, init) => fetch(`${simulator.url}${path}`, init),
    compact: async () => simulator.compact(),
    installKind: async (kind) => simulator.installKind(kind),
    removeKind: async ({ plural }) => simulator.removeKind(plural),
    stop: () => simulator.stop(),
  };
});
