import { expect, test } from "bun:test";
import { Faults, toJobFate, type Fault } from "../../../lib/simulator/cloudstack/faults.ts";

const none: ReadonlyMap<string, string> = new Map();

test("Faults.take() answers for the commands and values of the scope", () => {
  const faults = new Faults();
  const off = faults.set(
    { kind: "reset" },
    { command: ["listZones", "listProjects"], value: "v1" },
  );
  const own = new Map([["id", "v1"]]);
  expect(faults.take("listZones", own)).toEqual({ kind: "reset" });
  expect(faults.take("listProjects", own)).toEqual({ kind: "reset" });
  expect(faults.take("listVirtualMachines", own)).toBeUndefined();
  expect(faults.take("listZones", none)).toBeUndefined();
  off();
  expect(faults.take("listZones", own)).toBeUndefined();
});

test("Faults.take() prefers the last one, and uses up a fault that ends after some requests", () => {
  const faults = new Faults();
  faults.set({ kind: "hang" });
  faults.set({ kind: "reset" }, { times: 2 });
  const taken = Array.from({ length: 3 }, () => faults.take("x", none)?.kind);
  expect(taken).toEqual(["reset", "reset", "hang"]);
  faults.clear();
  expect(faults.take("x", none)).toBeUndefined();
});

test("Faults.take() uses up a missing page only by that page", () => {
  const faults = new Faults();
  const fault: Fault = { kind: "missingPage", page: 2 };
  faults.set(fault, { times: 1 });
  expect(faults.take("x", none)).toBeUndefined();
  expect(faults.take("x", new Map([["page", "2"]]))).toEqual(fault);
  expect(faults.take("x", new Map([["page", "2"]]))).toBeUndefined();
});

test.each<[Fault | undefined, unknown]>([
  [undefined, undefined],
  [{ kind: "reset" }, undefined],
  [{ kind: "endlessJob" }, { kind: "endless" }],
  [
    { kind: "failedJob", code: 530, text: "no" },
    { kind: "failed", code: 530, text: "no" },
  ],
])("toJobFate(%j)", (fault, fate) => {
  expect(toJobFate(fault)).toEqual(fate as never);
});
