import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { describeProviderContract, type ProviderHarness } from "../../provider_contract.ts";

describeProviderContract("xenorchestra", async (): Promise<ProviderHarness> => {
  const { world, machines } = createDemoWorld();
  const simulator = await startXenOrchestraSimulator({ clock: systemClock, world });
  const stopped = new AbortController();
  const raw = { url: simulator.url, token: simulator.token };
  const { settings } = xenOrchestra.parseConfig(raw, {});
  const first = machines.get("worker-1");
  const second = machines.get("worker-3");
  if (settings === undefined || first === undefined || second === undefined) {
    throw new Error("Cannot start the harness: the demo world lacks what it needs");
  }
  const provider = xenOrchestra.create(settings, {
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    signal: stopped.signal,
    fence: new Fence(),
  });
  return {
    provider,
    matchesBy: "systemUuid",
    machines: [first, second],
    foreignProviderId: "static://worker-1",
    malformedProviderIds: ["xenorchestra://", "xenorchestra://x/y", "xenorchestra://pool/vm/more"],
    remove: ({ systemUuid = "" }) => simulator.state.removeVm(systemUuid),
    breakCloud: () => {
      simulator.faults.set({ kind: "status", status: 503 });
    },
    stop: () => {
      stopped.abort();
      return simulator.stop();
    },
  };
});
