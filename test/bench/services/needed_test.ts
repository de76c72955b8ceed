import { expect, test } from "bun:test";
import {
  toNeededForLook,
  toNeededForMaking,
  toNeededForNode,
} from "../../../bench/services/needed.ts";

test.each([
  // One list each of rules, addresses and firewall rules.
  [{ services: 0, ports: 0, nodes: 12 }, 3],
  // Memberships rule by rule.
  [{ services: 2, ports: 3, nodes: 12 }, 3 + 6],
  // Memberships VM by VM.
  [{ services: 20, ports: 3, nodes: 12 }, 3 + 12],
  // Two pages of rules: each VM's rules are asked for in two, too.
  [{ services: 200, ports: 3, nodes: 12 }, 2 + 1 + 2 + 24],
  [{ services: 200, ports: 3, nodes: 1_000 }, 2 + 1 + 2 + 600],
])("toNeededForLook() of %j is %p", (balancers, expected) => {
  expect(toNeededForLook(balancers)).toBe(expected);
});

test("toNeededForMaking() counts each change with one question about its job, and one look", () => {
  expect(toNeededForMaking({ services: 1, ports: 3, nodes: 12 })).toBe((2 + 9) * 2 + 4);
  expect(toNeededForMaking({ services: 200, ports: 3, nodes: 12 })).toBe(200 * 22 + 4);
});

test("toNeededForNode() counts one change of each rule", () => {
  expect(toNeededForNode({ services: 200, ports: 3, nodes: 12 })).toBe(1_200);
});
