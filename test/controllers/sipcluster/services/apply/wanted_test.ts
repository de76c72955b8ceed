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
  test("lists objects in the order in which they need each other, the same each time", () => {
    const [one, other] = [listWanted(CLUSTER, toPlan()), listWanted(CLUSTER, toPlan())];
    expect(one.map(({ id }) => id)).toEqual([
      "Secret/jumphost-a",
      "PodDisruptionBudget/jumphost-a",
      "Deployment/jumphost-a",
      "Service/jumphost-a",
    ]);
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  test("names on the first object that is watched what is not, so that a restart finds it", () => {
    const named = listWanted(CLUSTER, toPlan()).map(({ body }) => parseIds(body));
    const unwatched = ["PodDisruptionBudget/jumphost-a", "Secret/jumphost-a"];
    expect(named).toEqual([[], [], unwatched, []]);
  });

  test("shortens the label of a cluster with a long name", () => {
    const cluster = { metadata: { ...CLUSTER.metadata, name: "a".repeat(80) } };
    const [first] = listWanted(cluster, toPlan());
    expect(first?.body.metadata.labels?.["landfall.dev/sip-cluster"]).toHaveLength(63);
    expect(first?.body.metadata.ownerReferences?.[0]?.name).toHaveLength(80);
  });
});

test("findTargets() leaves out what is no ID of a kind of services", () => {
  const targets = findTargets(["Secret/a", "Node/a", "Secret", "Secret/", "", "Role/b"]);
  expect(targets.map(({ resource, name }) => `${resource.plural}/${name}`)).toEqual([
    "secrets/a",
    "roles/b",
  ]);
});
