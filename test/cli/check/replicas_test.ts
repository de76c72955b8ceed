/**
 * What `check` says of replicas on few Nodes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listReplicaFindings } from "../../../lib/cli/check/replicas.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toNode } from "../../support/nodes/nodes.ts";

const PLACE = { install: { folder: "cloud" }, isLed: false };

describe("listReplicaFindings()", () => {
  const listNodes = (count: number, labels: Readonly<Record<string, string>>): Node[] =>
    Array.from({ length: count }, (_, at) => toNode(`node-${at}`, { labels }));
  const planes = (count: number): Node[] =>
    listNodes(count, { "node-role.kubernetes.io/control-plane": "" });
  const workers = (count: number): Node[] => listNodes(count, { "kubernetes.io/os": "linux" });

  test.each([
    [
      1,
      0,
      "1 control plane: the DaemonSet runs 1 replica; no replica acts for some seconds during an upgrade",
    ],
    [1, 5, "1 control plane: the DaemonSet runs 1 replica"],
    [2, 0, "2 control planes: the DaemonSet runs a replica on each"],
    [3, 2, "3 control planes: the DaemonSet runs a replica on each"],
  ])("of %d control planes and %d workers says that the DaemonSet fits", (count, more, words) => {
    const [finding] = listReplicaFindings([...planes(count), ...workers(more)], PLACE);
    expect(finding).toMatchObject({ level: "ok", message: expect.stringContaining(words) });
    expect(finding?.advice).toBeUndefined();
  });

  test.each([
    ["warning", PLACE, "deploy/manifests/cloud/deployment.yaml, or "],
    ["warning", { ...PLACE, install: {} }, "deploy/manifests/deployment.yaml, or "],
    ["warning", { ...PLACE, install: undefined }, ""],
    ["ok", { ...PLACE, isLed: true }, "deploy/manifests/cloud/deployment.yaml, or "],
  ])("without control planes advises the Deployment, as %s: %j", (level, place, file) => {
    expect(listReplicaFindings(workers(2), place)).toMatchObject([
      {
        level,
        message: expect.stringContaining("the DaemonSet would run no replica"),
        advice: `install the Deployment: ${file}useDaemonSet: false in the chart`,
      },
    ]);
  });

  test("with a single Node advises one replica of it", () => {
    const [finding] = listReplicaFindings(workers(1), PLACE);
    expect(finding?.advice).toContain("on 1 Node with 1 replica");
  });

  test("of no Nodes says nothing", () => {
    expect(listReplicaFindings([], PLACE)).toEqual([]);
  });
});
