import { expect, test } from "bun:test";
import {
  explainShortage,
  type ShortageInput,
} from "../../../../lib/controllers/vino/placement/shortages.ts";
import { POOL, toDoubleHost } from "../../../support/vino/machines_double.ts";

const INPUT: ShortageInput = {
  demand: { role: "worker", count: 2, countPer: "Host", hosts: {} },
  pool: POOL,
  chosen: [toDoubleHost("h1")],
  unmatched: { hosts: [], tags: [] },
  kept: 2,
  missing: 0,
  isFull: false,
  machinesMax: 1_000,
};
const NO_TAG = { hosts: [], tags: ["tag vino"] };
const NOWHERE = { chosen: [], kept: 0 };
const LOST = { ...POOL, isComplete: false };

test.each<[string, Partial<ShortageInput>, string[], string[]]>([
  ["all machines", {}, [], []],
  [
    "all machines, and a tag that no host has",
    { unmatched: NO_TAG },
    [],
    ["Pool lyon shows no host with tag vino of xenOrchestra.hosts"],
  ],
  [
    "a name of three that no host has, for a count on each host",
    { unmatched: { hosts: ['name "h9"'], tags: ['tag "x"'] } },
    ['2 noHosts pool lyon shows no host with name "h9". Correct xenOrchestra.hosts'],
    [],
  ],
  [
    "a name that no host has, for a total",
    { demand: { ...INPUT.demand, countPer: "Total" }, unmatched: { hosts: ["ID x"], tags: [] } },
    [],
    ["Pool lyon shows no host with ID x of xenOrchestra.hosts"],
  ],
  [
    "no machine that it wants, on hosts that the pool does not show",
    {
      ...NOWHERE,
      demand: { ...INPUT.demand, count: 0 },
      unmatched: { hosts: ["ID x"], tags: ["tag y"] },
    },
    [],
    [],
  ],
  ["a tag that a lost host may have", { unmatched: NO_TAG, pool: LOST }, [], []],
  [
    "hosts that are disabled",
    { missing: 1, chosen: [toDoubleHost("h1", { isEnabled: false })] },
    ["1 noRoom these hosts are disabled: h1 (h1). Enable them"],
    [],
  ],
  [
    "as many machines as it may have",
    { missing: 3, isFull: true },
    ["3 noRoom a Vino has at most 1000 machines. Landfall makes these when others are gone"],
    [],
  ],
  ["no host at all", NOWHERE, ["2 noHosts pool lyon shows no host. Check the pool"], []],
  [
    "no host with its tag",
    { ...NOWHERE, unmatched: NO_TAG },
    [
      "2 noHosts pool lyon shows no host with tag vino. Correct xenOrchestra.hosts, or add the tag to a host",
    ],
    [],
  ],
  [
    "no host of a lost pool",
    { ...NOWHERE, pool: LOST },
    ["2 silent pool lyon is disconnected or still loading"],
    [],
  ],
])("explainShortage() of a role with %s", (_what, change, shortages, notices) => {
  const answer = explainShortage({ ...INPUT, ...change });
  const texts = answer.shortages.map(({ missing, kind, why }) => `${missing} ${kind} ${why}`);
  expect([texts, answer.notices]).toEqual([shortages, notices]);
});
