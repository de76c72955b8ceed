import { describe } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { describeKubernetesContract } from "../../support/kube/contract/kubernetes.ts";
import type { ContractServer } from "../../support/kube/contract/kubernetes.ts";
import { addServiceCases } from "../../support/kube/contract/services.ts";

async function start(minor: number): Promise<ContractServer> {
  const simulator = startKubernetesSimulator({ clock: systemClock, minor });
  return {
    baseUrl: simulator.url,
    fetch: (path, init) => fetch(`${simulator.url}${path}`, init),
    compact: async () => simulator.compact(),
    installKind: async (kind) => simulator.installKind(kind),
    removeKind: async ({ plural }) => simulator.removeKind(plural),
    stop: () => simulator.stop(),
  };
}

describeKubernetesContract("startKubernetesSimulator()", () => start(35));
// The version of the real one that this contract is compared with, and what changed since.
describe.each([20, 21, 22, 24, 29])("", (minor) => {
  describeKubernetesContract(`startKubernetesSimulator() of 1.${minor}`, () => start(minor), {
    groups: [addServiceCases],
  });
});
