import { expect, test } from "bun:test";
import { toSeenMacs } from "../../../../lib/controllers/vino/addresses/seen_macs.ts";

test("toSeenMacs() knows all addresses, and which interface of which machine has one", () => {
  const seen = toSeenMacs([
    { mac: "a" },
    { mac: "b", machine: { name: "m-0", device: 0 } },
    { mac: "c", machine: { name: "m-0", device: 10 } },
  ]);
  expect([...seen.all]).toEqual(["a", "b", "c"]);
  expect([0, 1, 10].map((device) => seen.find("m-0", device))).toEqual(["b", undefined, "c"]);
  expect(seen.find("m-01", 0)).toBeUndefined();
});

test("toSeenMacs() says of no machine that it has an address that two interfaces have", () => {
  const own = { mac: "a", machine: { name: "m-0", device: 0 } };
  for (const macs of [
    [own, { mac: "a" }],
    [{ mac: "a" }, own],
  ]) {
    expect(toSeenMacs(macs).find("m-0", 0)).toBeUndefined();
  }
});
