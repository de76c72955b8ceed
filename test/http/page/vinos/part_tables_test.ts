import { expect, test } from "bun:test";
import { PartTables } from "../../../../lib/http/page/vinos/part_tables.tsx";
import type { VinoMachineView } from "../../../../lib/http/vinos/views.ts";
import { toAbsent, toVinoMachine } from "../../../support/page/vino_views.ts";

function listVerdicts(machine: VinoMachineView): (string | undefined)[] {
  const html = String(PartTables({ machines: [machine] }));
  return [...html.matchAll(/class="verdict">([^<]*)/g)].map(([, word]) => word);
}

const PARTS = [
  { name: "CPUs", wanted: "4", actual: "4" },
  { name: "memory", wanted: "4 GiB", actual: "2 GiB" },
  { name: "disk data", wanted: "9 GiB" },
  { name: "interface x", actual: "net" },
];

test("PartTables() judges each part of a machine", () => {
  const parts = PARTS;
  expect(listVerdicts(toVinoMachine("a", 0, { parts }))).toEqual([
    "in sync",
    "differs",
    "missing",
    "not desired",
  ]);
});

test("PartTables() of a machine that is not wanted says only what it has", () => {
  const parts = PARTS.slice(3);
  expect(listVerdicts(toVinoMachine("a", 0, { parts, isWanted: false }))).toEqual(["unknown"]);
});

test("PartTables() shows nothing if no parts are known", () => {
  expect(PartTables({ machines: [toAbsent("a", 0)] })).toBeNull();
});
