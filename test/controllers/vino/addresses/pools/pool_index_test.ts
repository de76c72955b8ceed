import { expect, test } from "bun:test";
import { PoolIndexes } from "../../../../../lib/controllers/vino/addresses/pools/pool_index.ts";

const SPEC = {
  subnet: "192.168.2.0/20",
  allocatedIPs: [
    { ip: "::ffff:192.168.2.10", mac: "52:54:00:06:00:0A", allocatedTo: "node01" },
    { ip: "192.168.2.11", mac: "52:54:00:06:00:0b", allocatedTo: "metal/a/vino-1-w-0/eth0" },
  ],
  allocatedRanges: [
    { allocatedTo: "b", start: "192.168.4.8", stop: "192.168.4.15" },
    { allocatedTo: "a", start: "192.168.4.0", stop: "192.168.4.7" },
  ],
};

test("PoolIndexes reads a state once, and of the next one only what changed", () => {
  const indexes = new PoolIndexes();
  const first = indexes.read(new Map([["a", SPEC]])).get("a");
  expect(indexes.read(new Map([["a", SPEC]])).get("a")).toBe(first);
  const [kept, changed] = SPEC.allocatedIPs;
  const allocatedIPs = [{ ...kept }, { ...changed, mac: "52:54:00:06:00:0c" }].flatMap((one) =>
    "ip" in one && one.ip !== undefined
      ? [{ ip: one.ip, mac: one.mac ?? "", allocatedTo: one.allocatedTo ?? "" }]
      : [],
  );
  const next = indexes.read(new Map([["a", { ...SPEC, allocatedIPs }]])).get("a");
  expect(next?.byOwner.get("node01")).toBe(first?.byOwner.get("node01"));
  expect([...(next?.macs ?? [])]).toEqual(["52:54:00:06:00:0a", "52:54:00:06:00:0c"]);
});
