import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  hasPrefix,
  isNarrow,
  type MacOwner,
  toMac,
} from "../../../../lib/controllers/vino/addresses/macs.ts";

const UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
const NONE: ReadonlySet<string> = new Set();

function owner(machine: string, name = "oam"): MacOwner {
  return { uid: UID, machine, interface: name };
}

/** The first pair, as a number. */
function toFirst(mac: string | undefined): number {
  return Number.parseInt(mac?.slice(0, 2) ?? "", 16);
}

test.each([
  [undefined, false, true],
  ["00:00:00:00:00:00", false, true],
  ["52:54:00:06:07:00", true, true],
  ["52:54:00:06:08:00", true, false],
])("isNarrow() and hasPrefix() with the prefix %p", (prefix, narrow, has) => {
  expect(isNarrow(prefix)).toBe(narrow);
  expect(hasPrefix("52:54:00:06:07:aa", prefix)).toBe(has);
});

test("toMac() never changes for an interface", () => {
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { taken: NONE })).toBe("6e:c2:e1:ce:8c:4d");
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { prefix: "52:54:00:06:00:00", taken: NONE })).toBe(
    "52:54:00:06:8c:4d",
  );
});

test("toMac() sets the local bit, and makes no multicast address", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.string(), fc.string(), (uid, machine, name) => {
      const mac = toMac({ uid, machine, interface: name }, { taken: NONE });
      expect(mac).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
      expect(toFirst(mac) & 0x03).toBe(0x02);
    }),
  );
});

test("toMac() differs by Vino, machine and interface", () => {
  const owners = [
    owner("vino-1b4e28ba-worker-3"),
    owner("vino-1b4e28ba-worker-4"),
    owner("vino-1b4e28ba-worker-3", "pxe"),
    { ...owner("vino-1b4e28ba-worker-3"), uid: UID.replace("1", "2") },
    { uid: UID, machine: "a", interface: "bc" },
    { uid: UID, machine: "ab", interface: "c" },
  ];
  expect(new Set(owners.map((one) => toMac(one, { taken: NONE }))).size).toBe(owners.length);
});

const PREFIXES: readonly [prefix: string, kept: string][] = [
  ["52:54:00:06:00:00", "52:54:00:06:"],
  ["02:00:00:00:00:00", "02:"],
  ["00:16:3E:00:00:00", "00:16:3e:"],
  ["00:16:3e:5e:10:00", "00:16:3e:5e:10:"],
];
for (const [prefix, kept] of PREFIXES) {
  test(`toMac() keeps the beginning of ${prefix}, and hashes the zeros at its end`, () => {
    const macs = Array.from({ length: 100 }, (_, at) =>
      toMac(owner(`m-${at}`), { prefix, taken: NONE }),
    );
    expect(macs.filter((mac) => mac?.startsWith(kept))).toHaveLength(100);
    expect(new Set(macs).size).toBeGreaterThan(70);
  });
}

test("toMac() takes zeros alone for no prefix", () => {
  const prefix = "00:00:00:00:00:00";
  expect(toMac(owner("a"), { prefix, taken: NONE })).toBe(toMac(owner("a"), { taken: NONE }));
});

test("toMac() gives each of 256 machines its own of 256 addresses, and the next one none", () => {
  const prefix = "52:54:00:06:07:00";
  const taken = new Set<string>();
  for (let at = 0; at < 256; at++) taken.add(toMac(owner(`m-${at}`), { prefix, taken }) ?? "none");
  expect(taken.size).toBe(256);
  expect([...taken].every((mac) => mac.startsWith("52:54:00:06:07:"))).toBe(true);
  expect(toMac(owner("m-256"), { prefix, taken })).toBeUndefined();
});

test("toMac() has one address for a prefix without zeros at its end", () => {
  const prefix = "52:54:00:06:07:08";
  expect(toMac(owner("a"), { prefix, taken: NONE })).toBe(prefix);
  expect(toMac(owner("b"), { prefix, taken: new Set([prefix]) })).toBeUndefined();
});

test("toMac() goes on after the last address with the first one", () => {
  const prefix = "52:54:00:06:07:00";
  const all = Array.from(
    { length: 256 },
    (_, at) => `52:54:00:06:07:${at.toString(16).padStart(2, "0")}`,
  );
  fc.assert(
    fc.property(fc.string(), fc.nat(255), (machine, free) => {
      const taken = new Set(all.filter((_, at) => at !== free));
      expect(toMac(owner(machine), { prefix, taken })).toBe(all[free]);
    }),
  );
});
