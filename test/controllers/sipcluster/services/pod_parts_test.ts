import { expect, test } from "bun:test";
import {
  toPodSecurity,
  TOLERATIONS,
  toSpread,
} from "../../../../lib/controllers/sipcluster/services/pod_parts.ts";

test("toPodSecurity() lets a user read the files of its Pod, and is never root", () => {
  expect(toPodSecurity(99)).toMatchObject({ runAsNonRoot: true, runAsUser: 99, fsGroup: 99 });
});

test("toSpread() prefers different Nodes, but does not need them", () => {
  expect(toSpread({ a: "b" })).toMatchObject([
    { whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: { a: "b" } } },
  ]);
});

test("Pods run on the control plane of old and new clusters", () => {
  expect(TOLERATIONS.map(({ key }) => key)).toEqual([
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
  ]);
});
