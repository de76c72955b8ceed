/**
 * Which machines are wanted where, and which are too many.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Placement,
  type PlacementInput,
  planPlacement,
} from "../../../../lib/controllers/vino/placement/placement.ts";
import type { RoleDemand } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { KnownMachine } from "../../../../lib/controllers/vino/placement/known.ts";
import { toKnown } from "../../../support/vino/known.ts";
import { POOL, toDoubleHost } from "../../../support/vino/machines_double.ts";

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
