/**
 * Looking at Nodes without a process.
 * @module
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lookAtNodes } from "../../../lib/cli/nodes/own_look.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

test("lookAtNodes() compares Nodes with an inventory file, and describes one alone when asked to", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const folder = await mkdtemp(join(tmpdir(), "landfall-look-"));
  try {
    for (const name of ["b", "a"]) kubernetes.objects.createNode({ metadata: { name } });
    const cloudConfig = join(folder, "inventory.yaml");
    await writeFile(cloudConfig, "instances: [{ id: m1, name: a }]\n");
    const settings = { cloudProvider: "static", cloudConfig, master: kubernetes.url };
    const look = (name?: string): ReturnType<typeof lookAtNodes> =>
      lookAtNodes(
        { settings, name, env: {}, providers: undefined, sections: [] },
        AbortSignal.timeout(10_000),
      );
    const shown = (await look()).map(({ name, presence }) => [name, presence.kind]);
    expect(shown).toEqual([
      ["a", "present"],
      ["b", "unknown"],
    ]);
    expect((await look("b")).map(({ name }) => name)).toEqual(["b"]);
    // One that does not exist: the names of all help to say which was meant.
    expect((await look("c")).map(({ name }) => name)).toEqual(["a", "b"]);
  } finally {
    await Promise.all([kubernetes.stop(), rm(folder, { recursive: true })]);
  }
});
