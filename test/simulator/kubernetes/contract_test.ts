import { expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { TESTED_WITH } from "../../../lib/kube/api/version.ts";
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

test("startKubernetesSimulator() is of the newest version that the tests run on", async () => {
  const { url, stop } = startKubernetesSimulator({ clock: systemClock });
  const response = await fetch(`${url}/version`);
  expect(await response.json()).toMatchObject({ gitVersion: `v${TESTED_WITH.newest}-simulated` });
  await stop();
});
