import { expect, test } from "bun:test";
import { PoolDraft } from "../../../../lib/controllers/vino/addresses/pool_draft.ts";
import { toIndex } from "../../../../lib/controllers/vino/addresses/pool_index.ts";
import { toSpan } from "../../../../lib/controllers/vino/addresses/subnets.ts";

const SPEC = { subnet: "192.0.2.0/24" };
const SPAN = toSpan({ start: "192.0.2.1", stop: "192.0.2.3" }) ?? { first: 0n, last: 0n };

function take(draft: PoolDraft, owner: string): string | undefined {
  return draft.take(SPAN, { owner, mac: "02:00:00:00:00:01" });
}

test("PoolDraft gives an address again that was put back, before later ones", () => {
  const draft = new PoolDraft(toIndex(SPEC), new Map());
  const all = ["a", "b", "c", "d"].map((owner) => take(draft, owner));
  expect(all).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3", undefined]);
  draft.putBack("192.0.2.3");
  draft.putBack("192.0.2.1");
  expect([take(draft, "e"), take(draft, "f"), take(draft, "g")]).toEqual([
    "192.0.2.1",
    "192.0.2.3",
    undefined,
  ]);
  const owners = draft.toSpec().allocatedIPs?.map(({ allocatedTo }) => allocatedTo);
  expect(owners).toEqual(["b", "e", "f"]);
});

test("PoolDraft is the same spec when all was put back", () => {
  const draft = new PoolDraft(toIndex(SPEC), new Map());
  draft.putBack(take(draft, "a") ?? "");
  expect(draft.toSpec()).toBe(SPEC);
});

test("PoolDraft puts back nothing that was there before", () => {
  const allocatedIPs = [{ ip: "192.0.2.1", mac: "02:00:00:00:00:01", allocatedTo: "old" }];
  const draft = new PoolDraft(toIndex({ ...SPEC, allocatedIPs }), new Map());
  draft.putBack("192.0.2.1");
  expect(take(draft, "a")).toBe("192.0.2.2");
});

test("PoolDraft has no room for more than etcd accepts", () => {
  const allocatedIPs = Array.from({ length: 1000 }, (_, at) => ({
    ip: `192.0.2.${at & 255}`,
    mac: "02:00:00:00:00:01",
    allocatedTo: `${at}`.padEnd(1100),
  }));
  const draft = new PoolDraft(toIndex({ ...SPEC, allocatedIPs }), new Map());
  expect(draft.hasRoomFor("a")).toBe(false);
  const smaller = toIndex({ ...SPEC, allocatedIPs: allocatedIPs.slice(1) });
  expect(new PoolDraft(smaller, new Map()).hasRoomFor("a")).toBe(true);
});
