/**
 * Which machines are wanted where, and which are too many.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  type Placement,
  type PlacementInput,
  planPlacement,
  pickSurplus,
  HostSlots,
} from "../../../../lib/controllers/vino/placement/placement.ts";
import {
  readRoles,
  type RoleDemand,
  toDemands,
} from "../../../../lib/controllers/vino/resource/role_form.ts";
import {
  compareKnown,
  type KnownMachine,
  type KnownSources,
  listKnown,
  type Sighting,
} from "../../../../lib/controllers/vino/placement/known.ts";
import { toEntry, toKnown, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import { POOL, toDoubleHost } from "../../../support/vino/machines_double.ts";
import {
  explainShortage,
  type ShortageInput,
} from "../../../../lib/controllers/vino/placement/shortages.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { MachineEntry } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import { choosePool } from "../../../../lib/controllers/vino/placement/choice.ts";
import {
  describeOtherPool,
  type SnapshotResult,
  takeSnapshot,
  describeLostHost,
} from "../../../../lib/controllers/vino/placement/snapshot.ts";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";

import fc from "fast-check";

const HOSTS = ["h1", "h2", "h3"].map((id) => toDoubleHost(id));

function toDemand(count: number, change: Partial<RoleDemand> = {}): RoleDemand {
  return { role: "worker", count, countPer: "Total", hosts: {}, ...change };
}

function place(demands: readonly RoleDemand[], change: Partial<PlacementInput> = {}): Placement {
  const base = { pool: POOL, hosts: HOSTS, known: [], isWhole: true, machinesMax: 1000 };
  return planPlacement({ demands, ...base, ...change });
}

function show({ wanted, surplus, shortages }: Placement): object {
  return {
    wanted: wanted.map(({ role, index, hostId }) => `${role}-${index} ${hostId}`),
    surplus: surplus.map(({ role, index }) => `${role}-${index}`),
    missing: shortages.map(({ missing }) => missing),
  };
}

const worker = (index: number, hostId?: string, change: Partial<KnownMachine> = {}): KnownMachine =>
  toKnown("worker", index, hostId, change);

describe("planPlacement()", () => {
  test.each<[string, RoleDemand, Partial<PlacementInput>, object]>([
    [
      "spreads a total over hosts",
      toDemand(4),
      {},
      {
        wanted: ["worker-0 h1", "worker-1 h2", "worker-2 h3", "worker-3 h1"],
        surplus: [],
        missing: [],
      },
    ],
    [
      "gives each host its count",
      toDemand(2, { countPer: "Host", hosts: { ids: ["h1", "h2"] } }),
      {},
      {
        wanted: ["worker-0 h1", "worker-1 h2", "worker-2 h1", "worker-3 h2"],
        surplus: [],
        missing: [],
      },
    ],
    [
      "keeps machines where they are, and fills gaps in the numbers",
      toDemand(3),
      { known: [worker(1, "h3"), worker(2, "h3")] },
      { wanted: ["worker-0 h1", "worker-1 h3", "worker-2 h3"], surplus: [], missing: [] },
    ],
    [
      "puts none on a disabled host, and says so",
      toDemand(1, { countPer: "Host" }),
      { hosts: [toDoubleHost("h1"), toDoubleHost("h2", { isEnabled: false })] },
      { wanted: ["worker-0 h1"], surplus: [], missing: [1] },
    ],
    [
      "finds hosts by name and by tag",
      toDemand(2, { hosts: { names: ["alpha"], tags: ["vino"] } }),
      {
        hosts: [
          toDoubleHost("h1"),
          toDoubleHost("h2", { name: "alpha" }),
          toDoubleHost("h3", { tags: ["vino"] }),
        ],
      },
      { wanted: ["worker-0 h2", "worker-1 h3"], surplus: [], missing: [] },
    ],
    [
      "takes no host of another pool",
      toDemand(1),
      { hosts: [toDoubleHost("h1", { poolId: "pool-2" })] },
      { wanted: [], surplus: [], missing: [1] },
    ],
    [
      "keeps machines of hosts that the cloud does not show",
      toDemand(1, { countPer: "Host" }),
      { hosts: [toDoubleHost("h1")], known: [worker(0, "h1"), worker(1, "h2")] },
      { wanted: ["worker-0 h1", "worker-1 h2"], surplus: [], missing: [] },
    ],
    [
      "keeps machines of a host that lost its tag",
      toDemand(1, { countPer: "Host", hosts: { tags: ["vino"] } }),
      {
        hosts: [toDoubleHost("h1", { tags: ["vino"] }), toDoubleHost("h2")],
        known: [worker(0, "h2")],
      },
      { wanted: ["worker-0 h2", "worker-1 h1"], surplus: [], missing: [] },
    ],
    [
      "gives up machines of a host whose ID the spec does not list any more",
      toDemand(1, { countPer: "Host", hosts: { ids: ["h1"] } }),
      { known: [worker(0, "h1"), worker(1, "h2")] },
      { wanted: ["worker-0 h1"], surplus: ["worker-1"], missing: [] },
    ],
    [
      "gives up what is above the count of a host, also of one that is not shown",
      toDemand(1, { countPer: "Host" }),
      { hosts: [], known: [worker(0, "h9"), worker(1, "h9")] },
      { wanted: ["worker-0 h9"], surplus: ["worker-1"], missing: [1] },
    ],
    [
      "gives up what no host is known for, and nothing shows, while each host has its count",
      toDemand(1, { countPer: "Host" }),
      {
        hosts: [toDoubleHost("h1")],
        known: [worker(0, "h1"), dropPlace(worker(1))],
      },
      { wanted: ["worker-0 h1"], surplus: ["worker-1"], missing: [] },
    ],
    [
      "gives what no host is known for to a host that has room",
      toDemand(1, { countPer: "Host" }),
      {
        hosts: [toDoubleHost("h1"), toDoubleHost("h2")],
        known: [worker(0, "h1"), dropPlace(worker(1))],
      },
      { wanted: ["worker-0 h1", "worker-1 h2"], surplus: [], missing: [] },
    ],
    [
      "keeps what no host is known for while there is no host",
      toDemand(1, { countPer: "Host" }),
      { hosts: [toDoubleHost("h1", { isEnabled: false })], known: [dropPlace(worker(1))] },
      { wanted: ["worker-1 undefined"], surplus: [], missing: [] },
    ],
    [
      "keeps what no host is known for while a pool may hold it",
      toDemand(1, { countPer: "Host" }),
      {
        hosts: [toDoubleHost("h1")],
        known: [worker(0, "h1"), dropPlace(worker(1))],
        isWhole: false,
      },
      { wanted: ["worker-0 h1", "worker-1 undefined"], surplus: [], missing: [] },
    ],
    [
      "moves what was begun on a host that is gone together with it",
      toDemand(1),
      { known: [dropMachine(worker(3, "h9"))] },
      { wanted: ["worker-3 h1"], surplus: [], missing: [] },
    ],
    [
      "moves nothing while a pool may hold it",
      toDemand(1),
      { known: [dropMachine(worker(3, "h9"))], isWhole: false },
      { wanted: ["worker-3 h9"], surplus: [], missing: [] },
    ],
    [
      "makes no more than a Vino may have",
      toDemand(5),
      { machinesMax: 3, known: [worker(7, "h1")] },
      { wanted: ["worker-0 h2", "worker-1 h3", "worker-7 h1"], surplus: [], missing: [2] },
    ],
    [
      "lets a removal that has begun go on, and makes another machine instead",
      toDemand(1),
      { known: [worker(0, "h1", { isRemoving: true })] },
      { wanted: ["worker-1 h1"], surplus: ["worker-0"], missing: [] },
    ],
  ])("%s", (_title, demand, change, expected) => {
    expect(show(place([demand], change))).toEqual(expected);
  });

  test("gives up machines of roles that the spec does not have", () => {
    const known = [toKnown("master", 0), worker(0)];
    expect(show(place([toDemand(1)], { known }))).toEqual({
      wanted: ["worker-0 h1"],
      surplus: ["master-0"],
      missing: [],
    });
  });

  test("spreads roles over hosts that other roles use less", () => {
    const demands = [toDemand(1, { role: "master" }), toDemand(2)];
    expect(show(place(demands))).toMatchObject({
      wanted: ["master-0 h1", "worker-0 h2", "worker-1 h3"],
    });
  });
});

function dropPlace({ machine: _gone, hostId: _unknown, ...known }: KnownMachine): KnownMachine {
  return known;
}

function dropMachine({ machine: _gone, ...known }: KnownMachine): KnownMachine {
  return known;
}

const arbitraryHost = fc.record({
  id: fc.constantFrom("h1", "h2", "h3", "h4", "h5"),
  isEnabled: fc.boolean(),
  tags: fc.subarray(["a", "b"]),
});
const arbitraryInput = fc.record({
  count: fc.nat(12),
  countPer: fc.constantFrom("Host" as const, "Total" as const),
  tags: fc.subarray(["a", "b"]),
  hosts: fc.uniqueArray(arbitraryHost, { selector: ({ id }) => id }),
  machines: fc.uniqueArray(
    fc.record({
      index: fc.nat(15),
      hostId: fc.constantFrom("h1", "h2", "h3", "gone"),
      isConsumed: fc.boolean(),
      isShown: fc.boolean(),
    }),
    { selector: ({ index }) => index },
  ),
  isWhole: fc.boolean(),
  seed: fc.nat(),
});
type Drawn = typeof arbitraryInput extends fc.Arbitrary<infer T> ? T : never;

function toInput({ count, countPer, tags, hosts, machines, isWhole }: Drawn): PlacementInput {
  return {
    demands: [toDemand(count, { countPer, hosts: { tags } })],
    pool: POOL,
    hosts: hosts.map(({ id, ...rest }) => toDoubleHost(id, rest)),
    known: machines.map(({ index, hostId, isConsumed, isShown }) => {
      const known = worker(index, hostId, { isConsumed });
      return isShown ? known : dropMachine(known);
    }),
    isWhole,
    machinesMax: 1000,
  };
}

const TAGGED = { tags: ["vinno"], names: ["h1"] };
test.each<[string, RoleDemand, Partial<PlacementInput>, string[], string[]]>([
  [
    "of no host for a total",
    toDemand(2, { hosts: { tags: ["vinno"] } }),
    {},
    ['2 noHosts pool lyon shows no host with tag "vinno"'],
    [],
  ],
  [
    "of no host for a count on each",
    toDemand(2, { countPer: "Host", hosts: { ids: ["x"], names: ["h9"] } }),
    {},
    ['2 noHosts pool lyon shows no host with ID x, name "h9"'],
    [],
  ],
  [
    "without hosts at all",
    toDemand(1),
    { hosts: [] },
    ["1 noHosts pool lyon shows no host. Check the pool"],
    [],
  ],
  [
    "of a pool that does not answer in full",
    toDemand(1, { hosts: { tags: ["vinno"] } }),
    { hosts: [], pool: { ...POOL, isComplete: false } },
    ["1 silent pool lyon is disconnected or still loading"],
    [],
  ],
  ["of no host that nothing needs", toDemand(0, { hosts: { tags: ["vinno"] } }), {}, [], []],
  [
    "of which one is there",
    toDemand(1, { countPer: "Host", hosts: TAGGED }),
    {},
    [],
    ['Pool lyon shows no host with tag "vinno" of xenOrchestra.hosts'],
  ],
  [
    "of which all lost their tag, while machines are there",
    toDemand(1, { countPer: "Host", hosts: { tags: ["vinno"] } }),
    { known: [worker(0, "h1")] },
    ['1 noHosts pool lyon shows no host with tag "vinno"'],
    [],
  ],
  [
    "that are disabled",
    toDemand(1),
    { hosts: [toDoubleHost("h1", { isEnabled: false })] },
    ["1 noRoom these hosts are disabled: h1 (h1). Enable them"],
    [],
  ],
])("planPlacement() of names %s says so", (_what, demand, change, shortages, notices) => {
  const placement = place([demand, { ...demand, role: "other", count: 0 }], change);
  const said = placement.shortages.map(({ missing, kind, why }) => `${missing} ${kind} ${why}`);
  expect(said).toEqual(shortages.map((one) => expect.stringContaining(one)));
  expect(placement.notices).toEqual(notices);
});

describe("planPlacement() of anything", () => {
  test("never uses an index twice, and forgets no machine", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput(drawn);
        const { wanted, surplus } = planPlacement(input);
        const indices = [...wanted, ...surplus].map(({ index }) => index);
        expect(new Set(indices).size).toBe(indices.length);
        for (const { index } of input.known) expect(indices).toContain(index);
      }),
    );
  });

  test("never moves a machine that the cloud shows, and begins none on a host that is disabled or not chosen", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput(drawn);
        const may = new Set(
          input.hosts
            .filter(({ isEnabled, tags }) => {
              return (
                isEnabled &&
                (drawn.tags.length === 0 || tags.some((one) => drawn.tags.includes(one)))
              );
            })
            .map(({ id }) => id),
        );
        for (const { known, hostId } of planPlacement(input).wanted) {
          if (known?.machine !== undefined) expect(hostId).toBe(known.hostId ?? "");
          else if (known === undefined) expect(may.has(hostId ?? "")).toBe(true);
        }
      }),
    );
  });

  test("gives up no machine because the cloud shows fewer hosts, or disables them", () => {
    fc.assert(
      fc.property(arbitraryInput, fc.nat(5), (drawn, left) => {
        const all = planPlacement(toInput(drawn)).surplus;
        const hosts = drawn.hosts
          .slice(0, left)
          .map((host) => ({ ...host, isEnabled: false, tags: [] }));
        const fewer = planPlacement(toInput({ ...drawn, hosts })).surplus;
        const names = new Set(all.map(({ name }) => name));
        expect(fewer.filter(({ name }) => !names.has(name))).toEqual([]);
      }),
    );
  });

  test("gives up exactly what is above the count of a host, shown or not", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput({ ...drawn, countPer: "Host" });
        const hosts = Map.groupBy(input.known, ({ hostId }) => hostId).values();
        const above = [...hosts].reduce(
          (sum, here) => sum + Math.max(0, here.length - drawn.count),
          0,
        );
        expect(planPlacement(input).surplus.length).toBe(above);
      }),
    );
  });

  test("gives up exactly what is above a total, and those that are used only after the others", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput({ ...drawn, countPer: "Total" });
        const { surplus, wanted } = planPlacement(input);
        expect(surplus.length).toBe(Math.max(0, input.known.length - drawn.count));
        const isUsedGone = surplus.some(({ isConsumed }) => isConsumed);
        const isFreeKept = wanted.some(({ known }) => known !== undefined && !known.isConsumed);
        expect(isUsedGone && isFreeKept).toBe(false);
      }),
    );
  });

  test("does not depend on any order", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput(drawn);
        const turned = {
          ...input,
          hosts: input.hosts.toReversed(),
          known: input.known.toReversed(),
        };
        expect(show(planPlacement(turned))).toEqual(show(planPlacement(input)));
      }),
    );
  });

  test("is at rest once its machines exist", () => {
    fc.assert(
      fc.property(arbitraryInput, (drawn) => {
        const input = toInput(drawn);
        const { wanted } = planPlacement(input);
        const known = wanted.map(({ index, hostId }) => worker(index, hostId ?? "gone"));
        const next = planPlacement({ ...input, known });
        expect(next.surplus).toEqual([]);
        const show2 = next.wanted.map(({ index, hostId }) => ({ index, hostId }));
        expect(show2).toEqual(
          wanted.map(({ index, hostId }) => ({ index, hostId: hostId ?? "gone" })),
        );
      }),
    );
  });
});

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
    [
      "2 silent pool lyon is disconnected or still loading: check its connection, and whether the user of Landfall " +
        "sees its hosts (host read)",
    ],
    [],
  ],
])("explainShortage() of a role with %s", (_what, change, shortages, notices) => {
  const answer = explainShortage({ ...INPUT, ...change });
  const texts = answer.shortages.map(({ missing, kind, why }) => `${missing} ${kind} ${why}`);
  expect([texts, answer.notices]).toEqual([shortages, notices]);
});

const pick = (machines: readonly KnownMachine[], total: number): number[] =>
  pickSurplus(machines, { total }).map(({ index }) => index);

describe("pickSurplus()", () => {
  test("picks those that are not complete before others", () => {
    const half = worker(0, "h1", { machine: toMachine("worker", 0, { isComplete: false }) });
    expect(pick([half, worker(1), worker(2)], 2)).toEqual([0]);
  });

  test("keeps a machine that the status shows as complete, although people took its mark away", () => {
    const machine = toMachine("worker", 0, { isComplete: false });
    const unmarked = worker(0, "h1", { machine, entry: toEntry("worker", 0, { state: "Ready" }) });
    const half = worker(1, "h2", { machine: toMachine("worker", 1, { isComplete: false }) });
    expect(pickSurplus([unmarked, half], { total: 1 })).toEqual([half]);
    expect(pickSurplus([unmarked, worker(1, "h1"), half], { total: 2 })).toEqual([half]);
  });

  test.each(["Ready", "Unknown"] as const)(
    "picks one that was never made, and none that is %s, while the cloud shows none of them",
    (state) => {
      const toHidden = (index: number): KnownMachine => {
        const { machine: _hidden, ...known } = worker(index, "h1");
        return { ...known, entry: toEntry("worker", index, { state, machineId: `vm-${index}` }) };
      };
      const { machine: _none, hostId: _nowhere, ...known } = worker(2);
      const { machineId: _never, ...entry } = toEntry("worker", 2, { state: "Blocked" });
      expect(pick([toHidden(0), toHidden(1), { ...known, entry }], 2)).toEqual([2]);
    },
  );

  test("picks from the host with the most, one after the other", () => {
    const all = [
      worker(0, "h1"),
      worker(1, "h1"),
      worker(2, "h1"),
      worker(3, "h2"),
      worker(4, "h3"),
    ];
    expect(pick(all, 2)).toEqual([2, 1, 4]);
  });

  test("picks by host, and leaves machines without a host unless there may be none", () => {
    const nowhere = { ...worker(9) };
    const { hostId: _none, ...homeless } = nowhere;
    const all = [worker(0, "h1"), worker(1, "h1"), worker(2, "h2"), homeless];
    const perHost = (hostId: string): number => (hostId === "h2" ? 0 : 1);
    expect(pickSurplus(all, { perHost, isNone: false }).map(({ index }) => index)).toEqual([2, 1]);
    const none = pickSurplus(all, { perHost: () => 0, isNone: true });
    expect(none.map(({ index }) => index)).toEqual([9, 2, 1, 0]);
  });
});

function list(
  machines: Parameters<typeof toView>[0],
  entries: readonly MachineEntry[],
  change: Partial<KnownSources> = {},
): string[] {
  const sources = { owner: VINO_OWNER, view: toView(machines), entries };
  const rest = { isConsumed: () => false, deletes: true };
  return listKnown({ ...sources, ...rest, ...change }).map(
    ({ role, index, hostId, machine, entry, isRemoving }) =>
      [
        `${role}-${index}`,
        hostId ?? "nowhere",
        ...(machine ? ["shown"] : []),
        ...(entry ? [entry.state] : []),
        ...(isRemoving ? ["goes"] : []),
      ].join(" "),
  );
}

test("listKnown() joins what the cloud shows with what objects say", () => {
  const machines = [toMachine("worker", 10), toMachine("worker", 2), toMachine("master", 0)];
  const entries = [
    toEntry("worker", 2, { host: "h9" }),
    toEntry("worker", 3, { machineId: "x", host: "h2" }),
  ];
  expect(list(machines, entries)).toEqual([
    "master-0 h1 shown",
    "worker-2 h1 shown Ready",
    "worker-3 h2 Ready",
    "worker-10 h1 shown",
  ]);
});

test("listKnown() leaves out machines of other Vinos, and names of another form", () => {
  const other = { ...toMachine("worker", 0), name: "vino-00000000-worker-0" };
  expect(list([other, { ...other, name: "web-1" }], [])).toEqual([]);
});

test.each<[string, Partial<MachineEntry>, number]>([
  ["has a record", { record: "task-1", state: "Creating" }, 1],
  ["has an ID", { machineId: "vm-1" }, 1],
  ["is being removed", { state: "Removing" }, 1],
  ["was never begun", { state: "Absent" }, 0],
])("listKnown() of an entry that %s and that the cloud does not show", (_title, change, count) => {
  expect(list([], [toEntry("worker", 0, change)])).toHaveLength(count);
});

test("listKnown() lets removals go on only if the Vino deletes", () => {
  const entries = [toEntry("worker", 0, { state: "Removing" })];
  expect(list([toMachine("worker", 0)], entries)).toEqual(["worker-0 h1 shown Removing goes"]);
  expect(list([toMachine("worker", 0)], entries, { deletes: false })).toEqual([
    "worker-0 h1 shown Removing",
  ]);
});

test.each<[string, Partial<Sighting>, string[]]>([
  [
    "showed it on another host",
    { machine: toMachine("worker", 0, { firstHostId: "h7" }) },
    ["worker-0 h7 shown Ready"],
  ],
  ["proved that it does not exist", {}, ["worker-0 h1 Ready"]],
  ["ended its removal", { isGone: true }, []],
])("listKnown() of a machine of view and status if a look %s", (_what, sighting, expected) => {
  const machine = toMachine("worker", 0);
  const seen = new Map([[machine.name, { atMs: 1, isReady: false, isGone: false, ...sighting }]]);
  const entries = [toEntry("worker", 0, { host: "h1" })];
  expect(list([machine], entries, { seen })).toEqual(expected);
});

test("listKnown() says which machines are used, by role and index", () => {
  const known = listKnown({
    owner: VINO_OWNER,
    view: toView([toMachine("worker", 0), toMachine("worker", 1)]),
    entries: [toEntry("worker", 2, { machineId: "x" })],
    isConsumed: ({ index }) => index > 0,
    deletes: true,
  });
  expect(known.map(({ isConsumed }) => isConsumed)).toEqual([false, true, true]);
});

test("compareKnown() orders by role, then by index", () => {
  const all = ["b-2", "b-10", "a-3"].map((text) => {
    const [role = "", index = ""] = text.split("-");
    return { role, index: Number(index) };
  });
  expect(all.toSorted(compareKnown).map(({ role, index }) => `${role}-${index}`)).toEqual([
    "a-3",
    "b-2",
    "b-10",
  ]);
});

const lyon = { id: "p-1", name: "lyon", isComplete: true };
const paris = { id: "p-2", name: "paris", isComplete: true };

describe("choosePool()", () => {
  test.each([
    ["the only one", [lyon], undefined, "p-1"],
    ["one by its ID", [lyon, paris], "p-2", "p-2"],
    ["one by its name", [lyon, paris], "paris", "p-2"],
    [
      "the one whose ID it is, although another has it as a name",
      [{ ...lyon, name: "p-2" }, paris],
      "p-2",
      "p-2",
    ],
  ])("finds %s", (_title, pools, wanted, id) => {
    expect(choosePool(pools, wanted)).toMatchObject({ pool: { id } });
  });

  test.each([
    ["none is shown", [], undefined, "Set spec.xenOrchestra.pool, because the cloud shows no pool"],
    ["there are several", [lyon, paris], undefined, "2 pools: lyon (p-1), paris (p-2)"],
    [
      "it is not shown",
      [lyon],
      "paris",
      'The cloud does not show pool "paris". It shows: lyon (p-1)',
    ],
    ["it is misspelt", [lyon, paris], "pari", '"pari". Did you mean paris? It shows: lyon'],
    [
      "a name is that of two",
      [lyon, { ...paris, name: "lyon" }],
      "lyon",
      'shows 2 pools with the name "lyon"',
    ],
  ])("says why there is none if %s", (_title, pools, wanted, message) => {
    expect(choosePool(pools, wanted)).toMatchObject({ problem: expect.stringContaining(message) });
  });
});

const FORM = { template: "debian", cpus: 2, memory: "4Gi" } as const;

test("readRoles() reads each role with its form", () => {
  const spec: VinoSpec = {
    nodes: [
      { name: "master", count: 1, xenOrchestra: { cpus: 8 } },
      { name: "worker", count: 3 },
    ],
    xenOrchestra: { ...FORM, countPer: "Total", hosts: { tags: ["vino"] } },
  };
  const read = readRoles(spec);
  if (!read.isComplete) throw new Error("the form is complete");
  expect([...read.roles].map(([name, { form }]) => `${name} ${form.cpus}`)).toEqual([
    "master 8",
    "worker 2",
  ]);
  expect(toDemands(read.roles)).toEqual([
    { role: "master", count: 1, countPer: "Total", hosts: { tags: ["vino"] } },
    { role: "worker", count: 3, countPer: "Total", hosts: { tags: ["vino"] } },
  ]);
});

test("readRoles() names what is missing, but not of a role that wants no machine", () => {
  const spec: VinoSpec = {
    nodes: [{ name: "a", count: 1 }, { name: "b" }],
    xenOrchestra: { cpus: 1 },
  };
  const read = readRoles(spec);
  if (read.isComplete) throw new Error("the form is not complete");
  expect(read.missing.map(({ path }) => path)).toEqual([
    "spec.nodes[0].xenOrchestra.template",
    "spec.nodes[0].xenOrchestra.memory",
  ]);
  expect(readRoles({ nodes: [{ name: "b", count: 0 }] })).toEqual({
    isComplete: true,
    roles: new Map(),
  });
});

const KNOWN = toKnown("worker", 0);
const NICE = { id: "pool-nice", name: "nice", isComplete: true };
const view = { ...toView([]), pools: [POOL, NICE] };

test("describeOtherPool() names the machine, both pools, and what to do", () => {
  expect(describeOtherPool(KNOWN, { view, poolId: NICE.id })).toEqual({
    reason: "MachineDiffers",
    kind: "notice",
    message:
      `${KNOWN.name} is in pool ${POOL.name}, but xenOrchestra.pool wants nice. Landfall moves no machine to another ` +
      `pool. Set xenOrchestra.pool back to ${POOL.name}, or remove the machine: lower count, and raise it again when ` +
      "it is gone",
  });
});

test("describeOtherPool() says nothing of a machine in its pool, or of one that is not shown", () => {
  const { machine: _none, ...hidden } = KNOWN;
  expect(describeOtherPool(KNOWN, { view, poolId: POOL.id })).toBeUndefined();
  expect(describeOtherPool(KNOWN, { view })).toBeUndefined();
  expect(describeOtherPool(hidden, { view, poolId: NICE.id })).toBeUndefined();
});

function snapshot(spec: VinoSpec | undefined, view: MachinesView): SnapshotResult {
  const read = spec && readRoles(spec);
  return takeSnapshot({
    vino: { metadata: VINO_OWNER, ...(spec && { spec }) },
    owner: VINO_OWNER,
    view,
    entries: [],
    ...(read?.isComplete && { roles: read.roles }),
    isConsumed: () => false,
    deletes: true,
  });
}

function toSpec(count: number, countPer: "Host" | "Total" = "Total"): VinoSpec {
  const xenOrchestra = { template: "debian", cpus: 2, memory: "4Gi", countPer };
  return { nodes: [{ name: "worker", count }], xenOrchestra };
}

test("takeSnapshot() without a pool says so, as a matter of the cloud", () => {
  const result = snapshot(toSpec(2), toView([], { pools: [] }));
  expect(result).toMatchObject({ kind: "refused", why: "silent" });
});

test("takeSnapshot() refuses more machines than a Vino may have", () => {
  const result = snapshot(toSpec(2_000, "Host"), toView([]));
  expect(result).toMatchObject({
    kind: "refused",
    why: "tooMany",
    message: expect.stringContaining("wants 6000 machines, and a Vino has at most 5000"),
  });
});

const SLOT_HOSTS = ["h1", "h2", "h3"].map((id) => toDoubleHost(id, { isEnabled: id !== "h3" }));

test("HostSlots gives the host with the fewest machines of the role, then of all roles", () => {
  const usage = new Map([["h1", 5]]);
  const slots = new HostSlots(SLOT_HOSTS, usage, Infinity);
  slots.take("h2");
  expect([slots.give(), slots.give(), slots.give()]).toEqual(["h1", "h2", "h1"]);
  expect([...usage]).toEqual([
    ["h1", 7],
    ["h2", 2],
  ]);
});

test("HostSlots gives each enabled host only so many machines of the role", () => {
  const slots = new HostSlots(SLOT_HOSTS, new Map(), 1);
  expect([slots.give(), slots.give(), slots.give()]).toEqual(["h1", "h2", undefined]);
});

const LYON = { id: "pool-1", name: "lyon", isComplete: true };
const PARIS = { id: "pool-2", name: "paris", isComplete: false };
const knownOn = (host: string, hostDisplayName: string): KnownMachine =>
  toKnown("worker", 0, host, { entry: toEntry("worker", 0, { host, hostDisplayName }) });
const LOST_NICE = { id: "pool-3", name: "nice", isComplete: false };

test.each([
  [
    "the pool that may have it, and the host's ID",
    { hostId: "h9" },
    [LYON, PARIS],
    "The cloud does not show its host h9: pool paris is disconnected or still loading",
  ],
  [
    "the host as its object does",
    { hostId: "h9", known: knownOn("h9", "xcp-9") },
    [LYON, PARIS],
    "The cloud does not show its host xcp-9: pool paris is disconnected or still loading",
  ],
  [
    "no host for another one",
    { hostId: "h9", known: knownOn("h8", "xcp-8") },
    [LYON, PARIS],
    "The cloud does not show its host h9: pool paris is disconnected or still loading",
  ],
  [
    "all pools that may have it",
    {},
    [LYON, PARIS, LOST_NICE],
    "The cloud does not show its host: pools paris, nice are disconnected or still loading",
  ],
  ["the pool that has none", {}, [LYON], "Pool lyon shows no host where it can start"],
])("describeLostHost() names %s", (_what, placed, pools, message) => {
  expect(describeLostHost(placed, { view: toView([], { pools }), poolId: "pool-1" })).toBe(message);
});
