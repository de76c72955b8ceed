import { expect, test } from "bun:test";
import { toInstance } from "../../support/cloud/instances.ts";
import { countQueued, countWrites, INSTANCE, toProvider } from "../../support/nodes/node_cloud.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { startRig, until } from "../../support/nodes/rig.ts";

test.each([1, 5, 10, 30])(
  "N-18 periodic passes of %d workers look at memory: the cloud is asked by the refresh alone",
  async (workers) => {
    const names = Array.from({ length: 6 }, (_, at) => `n-${at}`);
    const provider = toProvider(...names);
    await using rig = await startRig({ provider, workers, fullPassIntervalMs: 20 });
    for (const name of names) rig.kubernetes.objects.createNode(toRegistration(name));
    await until("they are initialised", () =>
      names.every((name) => rig.listEvents(name, "Synced").length === 1),
    );
    const { lists, reads } = provider;
    const adds = countQueued(rig.metrics.render());
    await until("ten passes went by", () => countQueued(rig.metrics.render()) >= adds + 60);
    expect([provider.lists - lists <= 1, provider.reads - reads]).toEqual([true, 0]);
    expect(countWrites(rig)["patch nodes"]).toBe(names.length);
  },
);

test("N-17 passes never write addresses of a tainted Node, nor clear those of an initialised one", async () => {
  const provider = toProvider("done");
  provider.refreshIntervalMs = 20;
  const wrong = [{ type: "InternalIP", address: "10.0.0.7" }] as const;
  provider.instances.set("tainted", toInstance("tainted", { ...INSTANCE, addresses: wrong }));
  await using rig = await startRig({ provider, fullPassIntervalMs: 20 });
  // The kubelet's annotation names an address that the cloud does not know, so the taint stays.
  rig.kubernetes.objects.createNode(toRegistration("tainted", { nodeIp: "10.9.9.9" }));
  rig.kubernetes.objects.createNode(toRegistration("done"));
  await until("one is done", () => rig.listEvents("done", "Synced").length === 1);
  const before = rig.readNode("done")?.status?.addresses;
  provider.instances.set("done", toInstance("done", { ...INSTANCE, addresses: [] }));
  const { lists } = provider;
  await until("the cloud was listed again", () => provider.lists >= lists + 2);
  const adds = countQueued(rig.metrics.render());
  await until("ten passes went by", () => countQueued(rig.metrics.render()) >= adds + 20);
  expect(before).toHaveLength(2);
  expect(rig.readNode("done")?.status?.addresses).toEqual(before);
  expect(rig.kubernetes.requests.count({ verb: "patch", name: "tainted" })).toBe(0);
  expect(rig.readNode("tainted")?.status?.addresses).toHaveLength(1);
});

test("an instance whose addresses change is followed after the next refresh", async () => {
  const provider = toProvider("a");
  provider.refreshIntervalMs = 50;
  await using rig = await startRig({ provider });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  await until("it is initialised", () => rig.listEvents("a", "Synced").length === 1);
  provider.instances.set(
    "a",
    toInstance("a", { ...INSTANCE, addresses: [{ type: "InternalIP", address: "10.0.0.2" }] }),
  );
  await until(
    "it has the new one",
    () => rig.readNode("a")?.status?.addresses?.[0]?.address === "10.0.0.2",
  );
});
