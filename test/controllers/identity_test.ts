import { expect, test } from "bun:test";
import { isUninitialized, toIdentity } from "../../lib/controllers/identity.ts";
import { toNode } from "../support/nodes/nodes.ts";

test("toIdentity() takes what the Node tells and leaves out what is empty", () => {
  expect(toIdentity(toNode("n"))).toEqual({ name: "n", labels: {} });
  expect(toIdentity(toNode("n", { providerId: "test://i", systemUuid: "AB" }))).toEqual({
    name: "n",
    providerId: "test://i",
    systemUuid: "AB",
    labels: {},
  });
  const { metadata, ...rest } = toNode("n");
  const { labels: _, ...bare } = metadata;
  expect(toIdentity({ ...rest, metadata: bare })).toEqual({ name: "n" });
});

test("toIdentity() passes on all labels, and the region by itself", () => {
  const labels = { "topology.kubernetes.io/region": "r", other: "x" };
  expect(toIdentity(toNode("n", { labels }))).toEqual({ name: "n", region: "r", labels });
});

test("isUninitialized() looks at the key of the taint alone", () => {
  const key = "node.cloudprovider.kubernetes.io/uninitialized";
  const tainted = toNode("n", { uninitialized: false, taints: [{ key, effect: "NoExecute" }] });
  expect(isUninitialized(tainted)).toBe(true);
  expect(isUninitialized(toNode("n", { uninitialized: false }))).toBe(false);
});
