import { expect, test } from "bun:test";
import {
  parseMachineName,
  toMachineName,
  toOwnerPrefix,
} from "../../../lib/cloud/capabilities/machines.ts";

const owner = {
  namespace: "metal",
  name: "wordpress",
  uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
};

test("toMachineName() names a machine by its owner, its role and its number", () => {
  expect(toMachineName({ owner, role: "worker", index: 3 })).toBe("vino-1b4e28ba-worker-3");
  expect(toOwnerPrefix(owner)).toBe("vino-1b4e28ba-");
});

test.each([
  ["vino-1b4e28ba-worker-3", { ownerPrefix: "vino-1b4e28ba-", role: "worker", index: 3 }],
  [
    "vino-1b4e28ba-control-plane-0",
    { ownerPrefix: "vino-1b4e28ba-", role: "control-plane", index: 0 },
  ],
  ["vino-1b4e28ba-w-1-10", { ownerPrefix: "vino-1b4e28ba-", role: "w-1", index: 10 }],
])("parseMachineName() reads %s", (name, parsed) => {
  expect(parseMachineName(name)).toEqual(parsed);
});

test.each([
  "vino-1b4e28ba-worker",
  "vino-1b4e28ba-worker-03",
  "vino-1b4e28ba--3",
  "vino-1b4e28b-worker-3",
  "VINO-1b4e28ba-worker-3",
  "vino-1b4e28ba-worker-3-cidata",
  "db-1",
])("parseMachineName() knows that %s is no name of ours", (name) => {
  expect(parseMachineName(name)).toBeUndefined();
});
