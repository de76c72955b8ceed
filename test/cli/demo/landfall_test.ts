import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCloud } from "../../../lib/cli/demo/clouds/mod.ts";
import { writeKubeconfig } from "../../../lib/cli/demo/files.ts";
import { startLandfall } from "../../../lib/cli/demo/landfall.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

test.each([
  ["xenorchestra", ['"cloud-node-out-of-service"', '"service"']],
  ["cloudstack", ['"service"']],
])(
  "startLandfall() runs the real controllers that work with %s, besides those of every cloud: %j",
  async (name, expected) => {
    const clock = systemClock;
    const kubernetes = startKubernetesSimulator({ clock });
    const { cloud } = await startCloud(name, clock);
    const folder = await mkdtemp(join(tmpdir(), "landfall-demo-test-"));
    const kubeconfig = join(folder, "kubeconfig");
    await writeKubeconfig(kubeconfig, kubernetes.url);
    const stopping = new AbortController();
    const flags = {
      debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
      verbose: false,
    } as const;
    const options = { kubeconfig, cloud, flags, clock, complain: () => {} };
    const landfall = await startLandfall(options, stopping.signal);
    const address = await landfall.listening;
    const port = address.kind === "tcp" ? address.port : 0;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('"cloud-node"');
    const more = ['"cloud-node-out-of-service"', '"service"'];
    expect(more.filter((one) => metrics.includes(one))).toEqual(expected);
    stopping.abort(new Error("the test is over"));
    await Promise.allSettled([landfall.controller, landfall.watching]);
    await Promise.all([kubernetes.stop(), cloud.stop(), rm(folder, { recursive: true })]);
  },
);
