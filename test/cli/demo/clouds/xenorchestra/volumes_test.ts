import { expect, test } from "bun:test";
import { toUnknownConditions } from "../../../../../lib/cli/demo/cluster.ts";
import { setStage } from "../../../../support/page/demo_stage.ts";
import { toNode } from "../../../../support/nodes/nodes.ts";

const NEVER = new AbortController().signal;
const NOW = "2026-01-01T00:00:00Z";

test("toVolumeSteps() keeps the volume attached, and fails, when no taint comes", async () => {
  await using set = await setStage();
  const { kubernetes, view } = set.stage;
  const node = toNode("worker-1", { uninitialized: false });
  const conditions = toUnknownConditions(NOW, NOW);
  view.nodes.replace([{ ...node, status: { ...node.status, conditions } }], "1");
  expect(await set.step("dies while a volume").play(set.stage, NEVER)).toBe(false);
  const name = "csi-volume-of-the-database";
  expect(kubernetes.objects.get("volumeattachments", { name })).toBeDefined();
});
