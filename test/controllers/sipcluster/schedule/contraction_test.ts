import { describe, expect, test } from "bun:test";
import {
  type ContractionOptions,
  planContraction,
  toWanted,
} from "../../../../lib/controllers/sipcluster/schedule/contraction.ts";
import { sortHosts } from "../../../../lib/controllers/sipcluster/schedule/own_hosts.ts";
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
