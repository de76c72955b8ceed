import { expect, test } from "bun:test";
import { toSipClusterSource } from "../../../lib/app/serving/sip_cluster_views.ts";
import { SIP_CLUSTERS } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { toServedParts } from "../../support/page/served_parts.ts";

const PARTS = toServedParts(SIP_CLUSTERS, ["z/b", "y/a"], {
  describe: () => ({ state: "ready" }),
  listHosts: () => [{ key: "m/h", places: {}, state: "available", cluster: "z/b" }],
});

test("toSipClusterSource() lists clusters in order, and hosts by namespace and name", () => {
  const source = toSipClusterSource(PARTS);
  expect(source?.readServing()).toEqual({ missing: [] });
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", roles: [], lastReconcile: null },
    { namespace: "z", name: "b" },
  ]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect(source?.find("z/none")).toBeUndefined();
  expect([...(source?.listHosts() ?? [])]).toMatchObject([
    { namespace: "m", name: "h", state: "available", cluster: "z/b" },
  ]);
});

test("toSipClusterSource() has nothing without a controller that has hosts", () => {
  expect(toSipClusterSource({ ...PARTS, groups: [] })).toBeUndefined();
});
