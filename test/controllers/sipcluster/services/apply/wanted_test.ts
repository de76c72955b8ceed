import { describe, expect, test } from "bun:test";
import {
  findTargets,
  listWanted,
} from "../../../../../lib/controllers/sipcluster/services/apply/objects.ts";
import type { SipCluster } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { toPlan } from "../../../../support/sipcluster/applier_rig.ts";

const CLUSTER: SipCluster = { metadata: { name: "a", namespace: "tenant", uid: "u" } };

describe("listWanted()", () => {
  test("has first what others need, and last what may lack a port", () => {
    const kinds = listWanted(CLUSTER, toPlan()).map(({ body }) => body.kind);
    expect(kinds).toEqual(["Secret", "PodDisruptionBudget", "Deployment", "Service"]);
  });
});

test("findTargets() leaves out what is no ID of a kind of services", () => {
  const targets = findTargets(["Secret/a", "Node/a", "Secret", "Secret/", "", "Role/b"]);
  expect(targets.map(({ resource, name }) => `${resource.plural}/${name}`)).toEqual([
    "secrets/a",
    "roles/b",
  ]);
});
