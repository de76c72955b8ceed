import { expect, test } from "bun:test";
import { PoolDraft } from "../../../../../lib/controllers/vino/addresses/pools/pool_draft.ts";
import { toIndex } from "../../../../../lib/controllers/vino/addresses/pools/pool_index.ts";
import { toSpan } from "../../../../../lib/controllers/vino/addresses/subnets.ts";

const SPEC = { subnet: "192.0.2.0/24" };
const SPAN = toSpan({ start: "192.0.2.1", stop: "192.0.2.3" }) ?? { first: 0n, last: 0n };

function take(draft: PoolDraft, owner: string): string | undefined {
  return draft.take(SPAN, { owner, mac: "02:00:00:00:00:01" });
}

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

test("PoolDraft looks at each address in use once, however many it gives", () => {
  const count = 8000;
  const allocatedIPs = Array.from({ length: count / 2 }, (_, at) => ({
    ip: `2001:db8::${(2 * at).toString(16)}`,
    mac: "02:00:00:00:00:01",
    allocatedTo: `${at}`,
  }));
  const half = { start: "2001:db8::8000:0", stop: "2001:db8:0:0:7fff::", allocatedTo: "x" };
  const index = toIndex({ subnet: "2001:db8::/64", allocatedIPs, allocatedRanges: [half] });
  let looks = 0;
  const has = (address: bigint): boolean => {
    looks += 1;
    return index.taken.has(address);
  };
  const taken: ReadonlySet<bigint> = Object.assign(new Set(index.taken), { has });
  const draft = new PoolDraft({ ...index, taken }, new Map());
  const last = (1n << 64n) - 1n + (index.subnet?.block.first ?? 0n);
  const span = { first: index.subnet?.block.first ?? 0n, last };
  const mac = "02:00:00:00:00:02";
  for (let at = 0; at < count; at += 1) draft.take(span, { owner: `y${at}`, mac });
  // The last ones are beyond all that is in use.
  expect(looks).toBeLessThan(2.5 * count);
  const far = { first: span.first + 0x8000_0000n, last };
  looks = 0;
  expect(draft.take(far, { owner: "z", mac })).toBe("2001:db8::7fff:0:0:1");
  expect(looks).toBe(1);
});
