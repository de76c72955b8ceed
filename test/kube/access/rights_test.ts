import { expect, test } from "bun:test";
import { listElectionRights } from "../../../lib/kube/access/rights.ts";

test("listElectionRights() names the Lease, but not to create it: RBAC cannot know the name then", () => {
  const accesses = listElectionRights({ namespace: "a", name: "b" }).map(({ access }) => access);
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: "a" };
  expect(accesses).toEqual([
    { ...lease, name: "b", verb: "get" },
    { ...lease, verb: "create" },
    { ...lease, name: "b", verb: "update" },
  ]);
});
