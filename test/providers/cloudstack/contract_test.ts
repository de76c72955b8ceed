import { systemClock } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import {
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { describeProviderContract, type ProviderHarness } from "../../provider_contract.ts";

describeProviderContract("external-cloudstack", async (): Promise<ProviderHarness> => {
  const { world, machines } = createDemoWorld();
  const simulator = await startCloudStackSimulator({ clock: systemClock, world });
  const stopped = new AbortController();
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const { settings } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey }, {});
  const [first, second] = [...machines.keys()];
  if (settings === undefined || first === undefined || second === undefined) {
    throw new Error("Cannot start the harness: the demo world lacks what it needs");
  }
  const provider = cloudStack.create(settings, {
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    signal: stopped.signal,
    fence: new Fence(),
  });
  return {
    provider,
    matchesBy: "name",
    machines: [{ nodeName: first }, { nodeName: second }],
    foreignProviderId: "static://worker-1",
    malformedProviderIds: ["external-cloudstack://", "external-cloudstack://x", "cloudstack://a"],
    remove: ({ nodeName }) => {
      const vm = [...simulator.state.vms.values()].find(({ name }) => name === nodeName);
      simulator.state.expunge(vm?.id ?? "");
    },
    breakCloud: () => {
      simulator.faults.set({ kind: "html", status: 502 });
    },
    stop: () => {
      stopped.abort();
      return simulator.stop();
    },
  };
});
