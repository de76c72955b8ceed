import { expect, test } from "bun:test";
import { UnconfirmedAbsences } from "../../../lib/controllers/node_lifecycle/unconfirmed_absences.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { toNode } from "../../support/nodes/nodes.ts";

const SAID = "a direct request shows the machine";

interface Stage extends LifecycleWorld, AsyncDisposable {
  readonly said: UnconfirmedAbsences;
}

/** Node `a` is not Ready and misses its machine. */
async function setStage(): Promise<Stage> {
  const world = createLifecycleWorld();
  const { clock, source } = world;
  const node = world.add("a", { ready: "Unknown" });
  world.loseMachines("a");
  const said = new UnconfirmedAbsences(world.context);
  said.note(node, SAID);
  const stop = new AbortController();
  const refreshing = source.run(stop.signal);
  await clock.advance(0);
  return {
    ...world,
    said,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await clock.advance(0);
      await refreshing;
    },
  };
}

test("UnconfirmedAbsences keeps the answer about a Node that is not Ready and misses its machine", async () => {
  await using stage = await setStage();
  stage.said.dropResolved();
  expect(stage.said.find("a")).toBe(SAID);
  expect(stage.said.find("b")).toBeUndefined();
});

test.each<[string, (stage: Stage) => unknown]>([
  ["its kubelet is back", ({ server }) => server.setReady("a", "True")],
  ["it is gone", ({ server }) => server.remove("a")],
  [
    "another has its name",
    ({ server }) => {
      const node = toNode("a", { providerId: "test://a", uninitialized: false, ready: "Unknown" });
      server.put({ ...node, metadata: { ...node.metadata, uid: "other" } });
    },
  ],
  [
    "its machine is back",
    async ({ provider, source, clock }) => {
      provider.instances.set("a", toInstance("a"));
      source.requestRefresh();
      await clock.advance(10_000);
    },
  ],
  ["nothing stands any more", ({ said }) => said.drop("a")],
])("UnconfirmedAbsences drops the answer about a Node when %s", async (_when, change) => {
  await using stage = await setStage();
  await change(stage);
  stage.said.dropResolved();
  expect(stage.said.find("a")).toBeUndefined();
});
