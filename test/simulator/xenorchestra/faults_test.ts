import { expect, test } from "bun:test";
import { Faults } from "../../../lib/simulator/xenorchestra/faults.ts";

test("Faults.take() gives the fitting fault that was set last", () => {
  const faults = new Faults();
  faults.set({ kind: "hang" });
  const off = faults.set({ kind: "reset" }, { route: "GET /vms/{id}", id: "a" });
  expect(faults.take("GET /vms/{id}", "/rest/v0/vms/a")).toEqual({ kind: "reset" });
  expect(faults.take("GET /vms/{id}", "/rest/v0/vms/b")).toEqual({ kind: "hang" });
  off();
  expect(faults.take("GET /vms/{id}", "/rest/v0/vms/a")).toEqual({ kind: "hang" });
  faults.clear();
  expect(faults.take("GET /vms/{id}", "/rest/v0/vms/a")).toBeUndefined();
});

test("Faults.take() uses a fault up", () => {
  const faults = new Faults();
  faults.set({ kind: "reset" }, { times: 2, route: "/vms" });
  const taken = [1, 2, 3].map(() => faults.take("GET /vms", "/rest/v0/vms")?.kind);
  expect(taken).toEqual(["reset", "reset", undefined]);
});
