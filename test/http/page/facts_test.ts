import { expect, test } from "bun:test";
import { Facts } from "../../../lib/http/page/facts.tsx";
import type { ElectionView, InventoryView } from "../../../lib/http/views.ts";
import { toInventoryView } from "../../support/page/node_views.ts";

function render(over: Partial<InventoryView> = {}, election?: ElectionView): string {
  const status = { provider: "xo", host: "cp-1", ...(election ? { election } : {}) };
  return String(Facts({ inventory: toInventoryView(over), status, nodes: 1 }));
}

test("Facts() tells how old the inventory is and what is in it", () => {
  expect(render()).toContain("<dd>3.0 s old</dd>");
  expect(render()).toContain("2 machines looked up for Nodes, 1 matches a Node, taken in 12 ms");
  expect(render({ ageSeconds: 59.6 })).toContain("<dd>60 s old</dd>");
  expect(render({ ageSeconds: 600 })).toContain("<dd>10 min old</dd>");
  expect(render({ ageSeconds: null })).toContain("<dd>none yet</dd>");
  expect(render({ lastError: "timeout" })).toContain("the last refresh failed");
  expect(render({ counts: { instances: 1, undecodable: 2 } })).toContain(
    "1 machine looked up for Nodes, 2 more unreadable, 1 matches a Node",
  );
});

test("Facts() names the parts that did not answer in full", () => {
  const coverage = [
    { id: "p1", complete: true },
    { id: "p2", name: "Lyon", complete: false, reason: "lost" },
  ];
  expect(render()).toContain("<dd>2 of 2 parts</dd>");
  expect(render({ coverage })).toContain("<dd>1 of 2 parts</dd>");
  expect(render({ coverage })).toContain("not complete: Lyon");
  expect(render({ lastError: "timeout" })).toContain("last answer: complete");
});

test("Facts() says of a cloud that never answered just that", () => {
  const html = render({ ageSeconds: null, coverage: [], lastError: "timeout" });
  expect(html).toContain("<dd>No answer yet</dd>");
  expect(html).not.toContain("in full");
});

test("Facts() tells who leads", () => {
  const lease = { lease: "l", identity: "cp-1_a", holder: "cp-1_a", isLeading: true };
  expect(render()).toContain("Only process");
  expect(render({}, lease)).toContain("<dd>Leader</dd>");
  const other = { ...lease, holder: "cp-2_b", isLeading: false };
  expect(render({}, other)).toContain("<dd>Standby</dd>");
  expect(render({}, other)).toContain("the leader is cp-2_b");
  expect(render({}, { ...other, holder: "" })).toContain("there is no leader now");
});

test("Facts() tells who leads with each further Lease", () => {
  const election = { lease: "ccm", identity: "cp-1_a", holder: "cp-1_a", isLeading: true };
  const more = { ...election, lease: "shops", holder: "cp-2_b", isLeading: false };
  const status = { provider: "xo", host: "cp-1", election, moreElections: [more] };
  const html = String(Facts({ inventory: toInventoryView(), status, nodes: 1 }));
  expect(html).toContain("<dt>This process</dt><dd>Leader</dd>");
  expect(html).toContain("<dt>Lease shops</dt><dd>Standby</dd>");
  expect(html).toContain("the leader is cp-2_b");
});
