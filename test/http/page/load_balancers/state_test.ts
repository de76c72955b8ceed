import { expect, test } from "bun:test";
import {
  isLoadBalancerState,
  LOAD_BALANCER_STATE_NAMES,
  LOAD_BALANCER_STATES,
} from "../../../../lib/http/page/load_balancers/state.ts";
import { STATES } from "../../../../lib/http/page/state.ts";

test("LOAD_BALANCER_STATES are in order of trouble, each with the look of a state of Nodes", () => {
  expect(LOAD_BALANCER_STATE_NAMES).toEqual(["failing", "waiting", "working", "ready"]);
  const looks = Object.values(LOAD_BALANCER_STATES).map(({ looksLike }) => looksLike);
  expect(new Set(looks).size).toBe(looks.length);
  for (const look of looks) expect(STATES).toHaveProperty(look);
});

test.each([
  ["ready", true],
  ["Ready", false],
  ["toString", false],
  ["", false],
])("isLoadBalancerState() of %p is %p", (text, expected) => {
  expect(isLoadBalancerState(text)).toBe(expected);
});
