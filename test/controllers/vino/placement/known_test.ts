import { expect, test } from "bun:test";
import {
  compareKnown,
  type KnownSources,
  listKnown,
} from "../../../../lib/controllers/vino/placement/known.ts";
import type { Sighting } from "../../../../lib/controllers/vino/machines/steps/sightings.ts";
import type { VinoMachine } from "../../../../lib/controllers/vino/resource/vino.ts";
import { toEntry, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";

function list(
  machines: Parameters<typeof toView>[0],
  entries: readonly VinoMachine[],
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

test("listKnown() joins what the cloud shows with the status", () => {
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

test.each<[string, Partial<VinoMachine>, number]>([
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
