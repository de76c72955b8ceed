import { describe, expect, test } from "bun:test";
import { toReadyConditions, toUnknownConditions } from "../../../../lib/cli/demo/cluster.ts";
import type { Stage } from "../../../../lib/cli/demo/story/stage.ts";
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import type { KubeEvent } from "../../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import { setStage } from "../../../support/page/demo_stage.ts";
import { type NodeOptions, toNode } from "../../../support/nodes/nodes.ts";

const NEVER = new AbortController().signal;
const NOW = "2026-01-01T00:00:00Z";
const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
/** No wait: what is wrong is wrong at once. */
const DELETION = { ...DEFAULT_DELETION, holdOffMs: 0, confirmations: 0 };

function listNodes({ cloud }: Stage, options: NodeOptions = {}): Node[] {
  return [...cloud.machines.keys(), cloud.late.nodeName].map((name) => {
    const node = toNode(name, { uninitialized: false, ...options });
    const isSilent = cloud.loss.silent.includes(name);
    const conditions = isSilent ? toUnknownConditions(NOW, NOW) : toReadyConditions(NOW, NOW);
    return { ...node, status: { ...node.status, conditions } };
  });
}

function toBlocked(name: string, message: string): KubeEvent {
  return {
    metadata: { name, namespace: "default", resourceVersion: "2" },
    involvedObject: { kind: "Node", name },
    reason: "NodeDeletionBlocked",
    message,
  };
}

describe.each([
  ["xenorchestra", "The pool lyon is lost"],
  ["cloudstack", "moves into a project"],
])("the loss of machines on %s", (on, title) => {
  test.each<[string, boolean, NodeOptions, string, readonly string[]]>([
    ["every Node stays and says why", true, {}, "why", []],
    ["no Event says why", false, {}, "something else", []],
    ["a Node is tainted as if its machine were off", false, { taints: [SHUTDOWN] }, "why", []],
    ["a Node is gone", false, {}, "why", ["worker-2"]],
  ])("when %s: the step gives %p", async (_what, expected, options, why, gone) => {
    await using set = await setStage({
      on,
      deletion: DELETION,
      cloud: { isPlaced: () => true },
    });
    const { stage } = set;
    const nodes = listNodes(stage, options);
    stage.view.nodes.replace(
      nodes.filter(({ metadata }) => !gone.includes(metadata.name)),
      "1",
    );
    const message = why === "why" ? stage.cloud.loss.why : why;
    stage.view.events.replace(
      stage.cloud.loss.silent.map((name) => toBlocked(name, message)),
      "2",
    );
    expect(await set.step(title).play(stage, NEVER)).toBe(expected);
  });

  test("the step fails when a Node loses the labels of its place, or the machines stay visible", async () => {
    for (const cloud of [
      { isPlaced: () => false },
      { isPlaced: () => true, isShown: () => true },
    ]) {
      await using set = await setStage({ on, deletion: DELETION, cloud });
      const { view, cloud: shown } = set.stage;
      view.nodes.replace(listNodes(set.stage), "1");
      view.events.replace(
        shown.loss.silent.map((name) => toBlocked(name, shown.loss.why)),
        "2",
      );
      expect(await set.step(title).play(set.stage, NEVER)).toBe(false);
    }
  });
});

test("toLossSteps() wants no DELETE of a Node while machines are hidden", async () => {
  await using set = await setStage({ deletion: DELETION, cloud: { isPlaced: () => true } });
  const { stage } = set;
  stage.view.nodes.replace(listNodes(stage), "1");
  stage.view.events.replace(
    stage.cloud.loss.silent.map((name) => toBlocked(name, stage.cloud.loss.why)),
    "2",
  );
  await fetch(`${stage.kubernetes.url}/api/v1/nodes/worker-3`, { method: "DELETE" });
  expect(await set.step("The pool lyon is lost").play(stage, NEVER)).toBe(false);
});
