import { expect, test } from "bun:test";
import { type NodePatch, NodeWriter } from "../../lib/controllers/node_writer.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import { ScriptedKubeClient, type Write } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";

const never = new AbortController().signal;
const NODE: Node = {
  metadata: { name: "a", uid: "u", resourceVersion: "7", labels: { old: "1" } },
};
const NEWER: Node = { metadata: { ...NODE.metadata, resourceVersion: "8" } };
const TAINT = { key: "k", effect: "NoSchedule" };

function setStage(): {
  readonly writer: NodeWriter;
  readonly writes: readonly Write[];
} {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onWrite = () => NEWER;
  return { writer: new NodeWriter({ client }), writes: client.writes };
}

const PATCHES: readonly [what: string, patch: NodePatch, body: string][] = [
  [
    "what initialises a Node",
    { metadata: { labels: { zone: "z" } }, spec: { taints: [TAINT], providerID: "c://a" } },
    '{"metadata":{"labels":{"zone":"z"},"resourceVersion":"7"},' +
      '"spec":{"taints":[{"key":"k","effect":"NoSchedule"}],"providerID":"c://a"}}',
  ],
  [
    "no taint by null",
    { metadata: {}, spec: { taints: null } },
    '{"metadata":{"resourceVersion":"7"},"spec":{"taints":null}}',
  ],
  [
    "labels alone",
    { metadata: { labels: { zone: "z" } } },
    '{"metadata":{"labels":{"zone":"z"},"resourceVersion":"7"}}',
  ],
  [
    "taints alone, after the version",
    { spec: { taints: [TAINT] } },
    '{"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}',
  ],
];

test.each(PATCHES)(
  "patch() sends %s, over the version that was planned on",
  async (_what, patch, body) => {
    const { writer, writes } = setStage();
    expect(await writer.patch(NODE, patch, never)).toBe(NEWER);
    expect(writes).toMatchObject([{ verb: "patch", path: { name: "a" }, type: "merge" }]);
    expect(JSON.stringify(writes[0]?.body)).toBe(body);
  },
);

test("replaceAddresses() sends the whole list as the status, over the version that was planned on", async () => {
  const { writer, writes } = setStage();
  const addresses = [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "InternalIP", address: "10.0.0.2" },
  ] as const;
  expect(await writer.replaceAddresses(NODE, addresses, never)).toBe(NEWER);
  const path = { name: "a", subresource: "status" };
  expect(writes).toMatchObject([{ verb: "patch", path, type: "strategic" }]);
  expect(JSON.stringify(writes[0]?.body)).toBe(
    '{"metadata":{"resourceVersion":"7"},"status":{"addresses":[' +
      '{"type":"InternalIP","address":"10.0.0.1"},{"type":"InternalIP","address":"10.0.0.2"},{"$patch":"replace"}]}}',
  );
});
