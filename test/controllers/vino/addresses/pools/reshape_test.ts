import { expect, test } from "bun:test";
import { toIndex } from "../../../../../lib/controllers/vino/addresses/pools/pool_index.ts";
import { isIn, reshape } from "../../../../../lib/controllers/vino/addresses/pools/reshape.ts";
import { toSpan } from "../../../../../lib/controllers/vino/addresses/subnets.ts";
import type { AddressRange } from "../../../../../lib/controllers/vino/resource/ip_pool.ts";

function range(first: number, last: number): AddressRange {
  return { start: `192.0.2.${first}`, stop: `192.0.2.${last}` };
}

const CASES: readonly {
  readonly what: string;
  readonly before: readonly AddressRange[];
  readonly wanted: readonly AddressRange[];
  readonly used?: number;
  readonly after: readonly AddressRange[];
}[] = [
  { what: "grows", before: [range(5, 9)], wanted: [range(3, 20)], used: 7, after: [range(3, 20)] },
  { what: "shrinks", before: [range(5, 9)], wanted: [range(5, 7)], used: 7, after: [range(5, 7)] },
  {
    what: "does not shrink below what is in use",
    before: [range(5, 9)],
    wanted: [range(5, 6)],
    used: 7,
    after: [range(5, 9)],
  },
  { what: "moves", before: [range(5, 9)], wanted: [range(50, 60)], after: [range(50, 60)] },
  {
    what: "keeps an old range in use",
    before: [range(5, 9)],
    wanted: [range(50, 60)],
    used: 5,
    after: [range(5, 9), range(50, 60)],
  },
  {
    what: "has no range for what is in use outside of all ranges",
    before: [],
    wanted: [range(5, 9)],
    used: 77,
    after: [range(5, 9)],
  },
];
for (const { what, before, wanted, used, after } of CASES) {
  test(`reshape(): a pool ${what}`, () => {
    const allocatedIPs =
      used === undefined ? [] : [{ ip: `192.0.2.${used}`, mac: "", allocatedTo: "a" }];
    const index = toIndex({ subnet: "192.0.2.0/24", ranges: before, allocatedIPs });
    const spans = wanted.flatMap((one) => toSpan(one) ?? []);
    expect(reshape(index, spans)).toEqual(after);
  });
}

test("reshape() gives the same array if nothing changes", () => {
  const ranges = [range(5, 9)];
  const span = toSpan(range(5, 9));
  expect(reshape(toIndex({ subnet: "192.0.2.0/24", ranges }), span ? [span] : [])).toBe(ranges);
});

test("isIn() counts both ends", () => {
  const spans = [{ first: 5n, last: 9n }];
  expect([4n, 5n, 9n, 10n].map((address) => isIn(address, spans))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
