import { expect, test } from "bun:test";
import { act } from "../../../bench/soak/acts.ts";
import { XenOrchestraStage } from "../../../bench/stage.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createFleet,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";

test("act() finds Nodes whose machines are gone, but none that never had a provider ID", async () => {
  const { world, machines } = createFleet(2);
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
  const stage = new XenOrchestraStage(kubernetes, cloud, []);
  const [known, unknown] = [...machines.values()];
  for (const machine of [known, unknown]) if (machine) stage.register(machine);
  const name = known?.nodeName ?? "";
  kubernetes.objects.patchNode(name, {
    spec: { providerID: `xenorchestra://p/${known?.vmId}`, taints: [] },
  });
  expect(act(stage, "findWrong", 0).about).toBe(`${name} (gone)`);
  await cloud.stop();
  await kubernetes.stop();
});
