import { expect, test } from "bun:test";
import { Domains } from "../../../../lib/controllers/sipcluster/schedule/domains.ts";
import { toHost, toNodeSet } from "../../../support/sipcluster/scheduling.ts";

const NODES = { ControlPlane: toNodeSet(1, 0, "rack"), Worker: toNodeSet(1, 0, "rack", "server") };
const A = toHost("a", { labels: { rack: "r1", server: "s1" } });
const C = toHost("c", { labels: { server: "s1" } });

test("listClosed() has the values with which a host cannot join", () => {
  const members = [
    { host: A, role: "ControlPlane" },
    { host: C, role: "Worker" },
  ] as const;
  const list = (spreadAcrossRoles: boolean, role: "ControlPlane" | "Worker") =>
    [...new Domains(NODES, { spreadAcrossRoles }).listClosed(role, members)].flatMap(
      ([key, values]) => [...values].map((value) => `${key}=${value}`),
    );
  expect(list(false, "ControlPlane")).toEqual(["rack=r1"]);
  expect(list(false, "Worker")).toEqual(["server=s1"]);
  // A control plane may not join a worker's server: the worker must be alone there.
  expect(list(true, "ControlPlane")).toEqual(["rack=r1", "server=s1"]);
  expect(list(true, "Worker")).toEqual(["rack=r1", "server=s1"]);
});
