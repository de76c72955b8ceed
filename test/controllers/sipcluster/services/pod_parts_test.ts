import { expect, test } from "bun:test";
import {
  toPodSecurity,
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
