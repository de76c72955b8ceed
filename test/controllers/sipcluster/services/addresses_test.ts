import { expect, test } from "bun:test";
import { listUnknown } from "../../../../lib/controllers/sipcluster/services/addresses.ts";
import { machine } from "../../../support/sipcluster/machines.ts";

test("listUnknown() names hosts only for the network that is not known", () => {
  const machines = [
    machine("known", "192.0.2.1"),
    machine("h", "192.0.2.2", { unknown: new Set(["other"]) }),
  ];
  expect(listUnknown(machines, "other")).toEqual({ unknownHosts: ["hosts/h"] });
  expect(listUnknown(machines, "oam")).toEqual({});
});
