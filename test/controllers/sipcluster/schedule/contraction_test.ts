import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ContractionOptions,
  planContraction,
  toWanted,
} from "../../../../lib/controllers/sipcluster/schedule/contraction.ts";
import {
  byKey,
  listKeepable,
  type OwnHost,
  sortHosts,
} from "../../../../lib/controllers/sipcluster/schedule/own_hosts.ts";
import { LATE } from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import { tries } from "../../../support/extent.ts";
import {
  CLUSTER,
  type HostWords,
  toHost,
  toNodeSet,
} from "../../../support/sipcluster/scheduling.ts";

test("toWanted() reads absent counts as 0", () => {
  expect(toWanted(undefined)).toEqual({ active: 0, standby: 0 });
  expect(toWanted({ count: { active: 2 } })).toEqual({ active: 2, standby: 0 });
});

const USED: HostWords = { isInUse: true };
const PAUSED: HostWords = { isUntouchable: true, trouble: "paused" };
const STANDBY: HostWords = { standby: true };

const FITS: HostWords = { labels: { flavor: "new", rack: "1" } };

function toRack(rack: string): HostWords {
  return { labels: { rack } };
}

/** Which of the hosts a, b, c … leave, and which block. */
function contract(words: readonly HostWords[], options: Partial<ContractionOptions> = {}): string {
  const hosts = words.map((one, at) => toHost("abcdef"[at] ?? "", { role: "Worker", ...one }));
  const { own } = sortHosts({ cluster: CLUSTER, nodes: {}, hosts: hosts.toReversed() });
  const { stay, leave, blocked } = planContraction(own.get("Worker"), {
    set: toNodeSet(2, 0, "rack"),
    releasesUsed: false,
    neighbours: [],
    ...options,
  });
  expect(stay.length + leave.length).toBe(words.length);
  const [gone, held] = [leave, blocked].map((list) =>
    list.map(({ key }) => key.slice(6)).join(" "),
  );
  return `${gone}; ${held}`;
}

describe("planContraction() gives back", () => {
  test.each<[string, readonly HostWords[], Partial<ContractionOptions>, string]>([
    ["nothing, with enough hosts", [{}, {}], {}, "; "],
    ["nothing, with too few hosts", [{}], {}, "; "],
    ["the last hosts, if nothing else decides", [{}, {}, {}, {}], {}, "d c; "],
    ["idle hosts", [{}, {}, USED, USED], {}, "b a; "],
    ["standby hosts before active ones", [STANDBY, {}, STANDBY, {}], {}, "c a; "],
    [
      "a standby host first, if there are too many of both",
      [STANDBY, {}, {}],
      { set: toNodeSet(1) },
      "a c; ",
    ],
    ["active ones, if only those are too many", [STANDBY, {}, {}], { set: toNodeSet(1, 1) }, "c; "],
    [
      "idle standby hosts before active ones in use",
      [STANDBY, USED, USED],
      { set: toNodeSet(1, 1) },
      "a; ",
    ],
    [
      "hosts of crowded racks, counted again after each",
      [toRack("1"), toRack("1"), toRack("2"), toRack("3")],
      {},
      "b d; ",
    ],
    [
      "hosts of racks that other roles crowd",
      [toRack("1"), toRack("2"), toRack("3")],
      {
        neighbours: [
          {
            ...toHost("x", toRack("1")),
            assigned: { cluster: CLUSTER, role: "ControlPlane", standby: false },
          },
        ],
      },
      "a; ",
    ],
    [
      "hosts that the selector does not match any more, before standby and crowded ones",
      [{ labels: { flavor: "old", rack: "2" } }, { ...FITS, standby: true }, FITS, FITS],
      { set: { ...toNodeSet(3, 0, "rack"), labelSelector: { matchLabels: { flavor: "new" } } } },
      "a; ",
    ],
    [
      "idle hosts that match before hosts in use that do not",
      [{ isInUse: true }, FITS, FITS],
      { set: { ...toNodeSet(2), labelSelector: { matchLabels: { flavor: "new" } } } },
      "c; ",
    ],
    ["no hosts in use, and names as many as are too many", [USED, USED, USED, {}], {}, "d; c"],
    [
      "hosts in use after idle ones, if they may leave",
      [USED, USED, {}, USED],
      { releasesUsed: true },
      "c d; ",
    ],
    [
      "no untouchable hosts",
      [PAUSED, PAUSED, USED, {}],
      { releasesUsed: true, set: toNodeSet(1) },
      "d c; b",
    ],
    [
      "all idle hosts of a role that is not wanted",
      [USED, {}, PAUSED],
      { set: undefined },
      "b; a c",
    ],
  ])("%s", (_, words, options, expected) => {
    expect(contract(words, options)).toBe(expected);
  });
});

const drawnHost = fc.record({
  labels: fc.record({ rack: fc.constantFrom("1", "2", "3"), power: fc.constantFrom("a", "b") }),
  standby: fc.boolean(),
  isInUse: fc.boolean(),
  late: fc.constantFrom(LATE.reserved, LATE.twin),
});
const drawnCrowd = fc.record({
  words: fc.array(drawnHost, { maxLength: 12 }),
  neighbours: fc.array(drawnHost, { maxLength: 4 }),
  keys: fc.constantFrom([], ["rack"], ["rack", "power"]),
  active: fc.nat(4),
  standby: fc.nat(2),
});

/** Chooses as the rule is written, by looking at all hosts again for each that leaves. */
function chooseByRule(
  hosts: readonly OwnHost[],
  neighbours: readonly OwnHost[],
  { active, standby, keys }: { active: number; standby: number; keys: readonly string[] },
): readonly string[] {
  const stay = new Set(hosts);
  const left: string[] = [];
  while (stay.size > active + standby) {
    const standing = [...stay].filter(({ assigned }) => assigned.standby).length;
    const crowds = ({ labels }: OwnHost): number =>
      Math.max(
        0,
        ...keys.map(
          (key) => [...stay, ...neighbours].filter((one) => one.labels[key] === labels[key]).length,
        ),
      );
    const isKindWanted = ({ assigned }: OwnHost): boolean =>
      assigned.standby ? standing <= standby : stay.size - standing <= active;
    const ranked = [...stay].map((host) => ({
      host,
      ranks: [
        host.late === LATE.reserved,
        host.isInUse,
        isKindWanted(host),
        !host.assigned.standby,
        -crowds(host),
      ].map(Number),
    }));
    const [first] = ranked.toSorted(
      (a, b) =>
        a.ranks.map((rank, at) => rank - (b.ranks[at] ?? 0)).find((one) => one !== 0) ??
        (a.host.key > b.host.key ? -1 : 1),
    );
    if (first === undefined) break;
    stay.delete(first.host);
    left.push(first.host.key);
  }
  return left;
}

function toOwn(words: readonly HostWords[], prefix: string): readonly OwnHost[] {
  const hosts = words.map((one, at) => toHost(`${prefix}${at + 10}`, { role: "Worker", ...one }));
  const { own } = sortHosts({ cluster: CLUSTER, nodes: {}, hosts });
  return listKeepable(own.get("Worker")).toSorted(byKey);
}

test("hosts leave as the rule says, one after the other", () => {
  const property = fc.property(drawnCrowd, ({ words, neighbours, keys, active, standby }) => {
    const hosts = toOwn(words, "h");
    const beside = toOwn(neighbours, "n");
    const { own } = sortHosts({ cluster: CLUSTER, nodes: {}, hosts });
    const { leave } = planContraction(own.get("Worker"), {
      set: toNodeSet(active, standby, ...keys),
      releasesUsed: true,
      neighbours: beside,
    });
    expect(leave.map(({ key }) => key)).toEqual([
      ...chooseByRule(hosts, beside, { active, standby, keys }),
    ]);
  });
  fc.assert(property, tries(2_000));
});

test("the work for a cluster that gives back thousands of hosts grows with their number alone", () => {
  const countReads = (size: number): number => {
    let reads = 0;
    const toLabels = (at: number): Record<string, string> =>
      new Proxy(
        { rack: String(at % 40), server: String(at) },
        {
          get: (labels, key) => {
            reads += 1;
            return Reflect.get(labels, key);
          },
        },
      );
    const hosts = Array.from({ length: size }, (_, at) =>
      toHost(`h${at + 10_000}`, { role: "Worker", labels: toLabels(at) }),
    );
    const { own } = sortHosts({ cluster: CLUSTER, nodes: {}, hosts });
    const options = { set: toNodeSet(1, 0, "rack", "server"), releasesUsed: false, neighbours: [] };
    const { leave } = planContraction(own.get("Worker"), options);
    expect(leave).toHaveLength(size - 1);
    return reads;
  };
  expect(countReads(2_000)).toBeLessThan(11 * countReads(200));
});
