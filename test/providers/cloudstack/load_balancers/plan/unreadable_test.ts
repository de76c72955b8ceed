import { expect, test } from "bun:test";
import { plan } from "../../../../../lib/providers/cloudstack/load_balancers/plan/plan.ts";
import { planRelease } from "../../../../../lib/providers/cloudstack/load_balancers/plan/release.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import {
  findUnreadable,
  findUnreadableAddresses,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/unreadable.ts";
import type { Unreadable } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { createCloud, LB_NAME, REASON, toSpec } from "../cloud/services.ts";

const PROBLEM = { problem: "its port is no number" };
const CASES: readonly [Unreadable, boolean][] = [
  [{ kind: "rule", ...PROBLEM }, true],
  [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }, true],
  [{ kind: "rule", name: "theirs", addressId: "ip-9", ...PROBLEM }, false],
  [{ kind: "rule", name: "theirs", addressId: "ip-1", ...PROBLEM }, true],
  [{ kind: "firewallRule", ...PROBLEM }, true],
  [{ kind: "firewallRule", addressId: "ip-1", ...PROBLEM }, true],
  [{ kind: "firewallRule", addressId: "ip-9", ...PROBLEM }, false],
  [{ kind: "aclItem", listId: "list-1", name: REASON, ...PROBLEM }, true],
  [{ kind: "aclItem", listId: "list-1", name: "theirs", ...PROBLEM }, false],
  [{ kind: "network", name: "x", ...PROBLEM }, false],
];
for (const [unreadable, matters] of CASES) {
  test(`an unreadable ${JSON.stringify(unreadable)} ${matters ? "may" : "cannot"} be of the Service`, () => {
    const view = { ...createCloud().view(), unreadable: [unreadable] };
    const found = findUnreadable(toScene(view, toSpec()), new Set(["ip-1"]));
    expect(found).toHaveLength(matters ? 1 : 0);
    for (const one of found)
      expect(one).toMatchObject({ reason: "UnreadableObject", isWaiting: true });
  });
}

test("a Service gets no new address while one cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "address", id: "x", name: "192.0.2.7", ...PROBLEM }];
  const view = { ...createCloud().view(), unreadable };
  const scene = toScene(view, toSpec());
  expect(findUnreadableAddresses(scene)).toHaveLength(1);
  expect(findUnreadableAddresses(scene, "192.0.2.7")).toHaveLength(1);
  expect(findUnreadableAddresses(scene, "192.0.2.8")).toEqual([]);
  const { steps, problems, ingress } = plan(view, toSpec());
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject" }]);
});

test("a release is not over while an object that may be of the Service cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }];
  const { steps, problems, ingress } = planRelease(
    { ...createCloud().view(), unreadable },
    toSpec(),
  );
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject", isWaiting: true }]);
});

test("nothing is made for a Service while one of its rules cannot be read", () => {
  const unreadable: Unreadable[] = [{ kind: "rule", name: `${LB_NAME}-tcp-80`, ...PROBLEM }];
  const { steps, problems, ingress } = plan({ ...createCloud().view(), unreadable }, toSpec());
  expect({ steps, ingress }).toEqual({ steps: [], ingress: undefined });
  expect(problems).toMatchObject([{ reason: "UnreadableObject", isWaiting: true }]);
});
