import { expect, test } from "bun:test";
import { listTaintFindings } from "../../../lib/cli/check/taints.ts";
import { toNode } from "../../support/nodes/nodes.ts";

const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
const RECORD = { "landfall.dev/out-of-service": "2026-01-01T00:00:00.000Z boot-1" };

test("listTaintFindings() warns of taints that Landfall did not set, and of no others", () => {
  const theirs = toNode("theirs", { taints: [TAINT] });
  const nodes = [theirs, toNode("ours", { taints: [TAINT], annotations: RECORD }), toNode("none")];
  expect(listTaintFindings(nodes)).toMatchObject([
    {
      level: "warning",
      code: "foreignTaint",
      message: expect.stringContaining("theirs (1 in all)"),
    },
  ]);
  expect(listTaintFindings(nodes.slice(1))).toEqual([]);
});
