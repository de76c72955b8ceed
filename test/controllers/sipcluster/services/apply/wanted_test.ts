import { describe, expect, test } from "bun:test";
import {
  findTargets,
  listWanted,
  parseIds,
} from "../../../../../lib/controllers/sipcluster/services/apply/wanted.ts";
import type { SipCluster } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { toPlan } from "../../../../support/sipcluster/applier_rig.ts";

const CLUSTER: SipCluster = { metadata: { name: "a", namespace: "tenant", uid: "u" } };

describe("listWanted()", () => {
  test("names on the first object that is watched what is not, so that a restart finds it", () => {
    const named = listWanted(CLUSTER, toPlan()).map(({ body }) => parseIds(body));
    const unwatched = ["PodDisruptionBudget/jumphost-a", "Secret/jumphost-a"];
    expect(named).toEqual([[], [], unwatched, []]);
  });
});

test("findTargets() leaves out what is no ID of a kind of services", () => {
  const targets = findTargets(["Secret/a", "Node/a", "Secret", "Secret/", "", "Role/b"]);
  expect(targets.map(({ resource, name }) => `${resource.plural}/${name}`)).toEqual([
    "secrets/a",
    "roles/b",
  ]);
});
