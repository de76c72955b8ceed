import { expect, test } from "bun:test";
import { setStage } from "../../../../support/page/demo_stage.ts";
import { toNode } from "../../../../support/nodes/nodes.ts";

const NEVER = new AbortController().signal;

function toTyped(type: string, resourceVersion: string): ReturnType<typeof toNode> {
  const labels = {
    "node.kubernetes.io/instance-type": type,
    "beta.kubernetes.io/instance-type": type,
  };
  return toNode("worker-1", { labels, uninitialized: false, resourceVersion });
}

test.each([
  ["the type follows and an Event says so", "Large8ber", "old=SmallInstance, new=Large8ber", true],
  ["no Event says so", "Large8ber", "nothing", false],
  ["the type stays", "SmallInstance", "old=SmallInstance, new=Large8ber", false],
])("toLiveSteps() when %s", async (_what, type, message, expected) => {
  await using set = await setStage({ on: "cloudstack", stepMsMax: 50 });
  const { view } = set.stage;
  view.nodes.replace([toTyped("SmallInstance", "100")], "1");
  const playing = set.step("larger service offering").play(set.stage, NEVER);
  view.nodes.apply(toTyped(type, "101"));
  view.events.replace(
    [
      {
        metadata: { name: "e", namespace: "default", resourceVersion: "2" },
        involvedObject: { kind: "Node", name: "worker-1" },
        reason: "NodeInstanceTypeHasChanged",
        message,
      },
    ],
    "2",
  );
  expect(await playing).toBe(expected);
});
