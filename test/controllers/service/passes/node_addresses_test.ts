import { expect, test } from "bun:test";
import {
  NodeAddresses,
  toOccupied,
} from "../../../../lib/controllers/service/passes/node_addresses.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import { type Node, NODES } from "../../../../lib/kube/kinds/node.ts";
import { toNode } from "../../../support/nodes/nodes.ts";

function withAddresses(name: string, ...texts: readonly string[]): Node {
  const addresses = texts.map((address) => ({ type: "InternalIP" as const, address }));
  return { ...toNode(name), status: { addresses } };
}

test("toOccupied() reads the IPs of Nodes in canonical form, and no names", () => {
  const nodes = [withAddresses("n1", "192.0.2.1", "n1"), withAddresses("n2", "2001:DB8::0:1")];
  expect([...toOccupied(nodes)]).toEqual([
    ["192.0.2.1", "the Node n1"],
    ["2001:db8::1", "the Node n2"],
  ]);
});

test("NodeAddresses keeps the same object until an address changes", () => {
  const store = new Store<Node>({ resource: NODES, log: silentLogger });
  const addresses = new NodeAddresses(store);
  store.replace([withAddresses("n1", "192.0.2.1")], "1");
  const before = addresses.current;
  expect([...before.keys()]).toEqual(["192.0.2.1"]);
  const same = withAddresses("n1", "192.0.2.1");
  store.replace([{ ...same, metadata: { ...same.metadata, resourceVersion: "7" } }], "2");
  expect(addresses.current).toBe(before);
  store.replace([withAddresses("n1", "192.0.2.2")], "3");
  expect([...addresses.current.keys()]).toEqual(["192.0.2.2"]);
  store.replace([], "4");
  expect(addresses.current.size).toBe(0);
});
