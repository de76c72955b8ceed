/**
 * What the applier deletes, and what it never deletes, on a simulated API server.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toOwned } from "../../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SECRETS } from "../../../../lib/kube/kinds/secret.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { NAMESPACE, startApplier, toPlan } from "../../../support/sipcluster/applier_rig.ts";

const JUMP = toPlan();
const DEX = toPlan({ service: "auth", name: "dex-a", nodePort: 30002 });
const OBJECTS = ["deployments", "poddisruptionbudgets", "secrets", "services"];

function toObjects(name: string): string[] {
  return OBJECTS.map((plural) => `${plural}/${name}`);
}

describe("what no plan has any more", () => {
  test("is deleted, with what is not watched, also after a restart; the rest is not touched", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP, DEX);
    await rig.restart();
    const { requests } = await rig.apply(DEX);
    const deletions = requests.filter((one) => one.startsWith("delete"));
    expect(deletions).toEqual([
      "delete poddisruptionbudgets/jumphost-a",
      "delete services/jumphost-a",
      "delete deployments/jumphost-a",
    ]);
    expect(requests.filter((one) => one.startsWith("patch"))).toEqual([]);
    // A Secret has keys that nothing brings back. It goes with the cluster.
    expect(rig.list().toSorted()).toEqual(["secrets/jumphost-a", ...toObjects("dex-a")].toSorted());
    expect((await rig.apply(DEX)).requests).toEqual([]);
  });

  test("frees a node port that another service gets in the same step", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP);
    expect((await rig.apply(toPlan({ service: "auth", name: "dex-a" }))).problems).toEqual([]);
    expect(rig.find("services", "dex-a")).toMatchObject({ spec: { ports: [{ nodePort: 30001 }] } });
  });

  test("stays while its plan has a problem, as it is", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP, DEX);
    const problem = { reason: "InfraServiceFailure", message: "a bad template" };
    const { problems, requests } = await rig.apply({ ...JUMP, objects: [], problem }, DEX);
    expect(problems).toEqual(["jumpHost InfraServiceFailure: a bad template"]);
    expect(requests).toEqual([]);
    expect(rig.list()).toHaveLength(8);
  });

  test("stays if another cluster, or a person, owns it", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP);
    const other = rig.createCluster("b");
    const theirs = toPlan({ name: "jumphost-b", nodePort: 30003 });
    await rig.applier.apply(other, [theirs], rig.signal);
    await rig.edit("secrets", "jumphost-a", { metadata: { ownerReferences: null } });
    await rig.apply();
    expect(rig.list().toSorted()).toEqual(
      ["secrets/jumphost-a", ...toObjects("jumphost-b")].toSorted(),
    );
  });
});

describe("a cluster that is being deleted", () => {
  test("has its Services deleted first, and waits for Deployments until their Pods are gone", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP);
    await rig.edit("deployments", "jumphost-a", {
      metadata: { finalizers: ["foregroundDeletion"] },
    });
    expect(await rig.remove(JUMP)).toEqual([
      "Service/jumphost-a",
      "PodDisruptionBudget/jumphost-a",
      "Secret/jumphost-a",
      "Deployment/jumphost-a",
    ]);
    expect(rig.takeRequests().filter((one) => one.startsWith("delete"))).toEqual([
      "delete services/jumphost-a",
      "delete poddisruptionbudgets/jumphost-a",
      "delete secrets/jumphost-a",
      "delete deployments/jumphost-a",
    ]);
    expect(await rig.remove(JUMP)).toEqual(["Deployment/jumphost-a"]);
    expect(rig.takeRequests().filter((one) => one.startsWith("delete"))).toEqual([]);
    await rig.edit("deployments", "jumphost-a", { metadata: { finalizers: null } });
    expect(await rig.remove(JUMP)).toEqual([]);
    expect(rig.list()).toEqual([]);
  });

  test("has objects deleted by their UIDs, and Deployments with their Pods", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP);
    const uids = ["services", "poddisruptionbudgets", "secrets", "deployments"].map(
      (plural) => rig.find(plural, "jumphost-a")?.metadata.uid,
    );
    await rig.remove(JUMP);
    const bodies = rig.listBodies("DELETE");
    expect(bodies).toMatchObject(uids.map((uid) => ({ preconditions: { uid } })));
    expect(bodies.map((body) => Object(body).propagationPolicy)).toEqual([
      undefined,
      undefined,
      undefined,
      "Foreground",
    ]);
  });

  test("loses what was made for its Pods without a plan, and keeps what users made", async () => {
    await using rig = await startApplier();
    const { uid = "" } = rig.cluster.metadata;
    const owner = {
      apiVersion: "airship.airshipit.org/v1",
      kind: "SIPCluster",
      name: "a",
      uid,
      controller: true,
    };
    const create = (name: string, ownerReferences: JsonObject[]): void => {
      const metadata = { name, namespace: NAMESPACE, ownerReferences };
      rig.kubernetes.objects.create("secrets", { metadata });
    };
    create("host-keys", [owner]);
    create("node-keys", []);
    await rig.apply(toPlan({ mounts: ["host-keys", "node-keys"] }));
    await rig.remove();
    expect(await rig.remove()).toEqual([]);
    expect(rig.list()).toEqual(["secrets/node-keys"]);
  });

  test("loses what no view shows yet, by its plans", async () => {
    await using rig = await startApplier();
    const refusal = rig.kubernetes.faults.refuse({
      verb: "patch",
      resource: "deployments",
      status: 503,
    });
    await expect(rig.apply(JUMP)).rejects.toThrow("503");
    refusal();
    await rig.restart();
    await rig.remove(JUMP);
    expect(await rig.remove(JUMP)).toEqual([]);
    expect(rig.list()).toEqual([]);
  });

  test("never loses an object that has another UID by now", async () => {
    await using rig = await startApplier();
    const plan = { ...JUMP, objects: [toOwned(SECRETS, { name: "x", namespace: NAMESPACE }, {})] };
    rig.kubernetes.objects.create("secrets", { metadata: { name: "x", namespace: NAMESPACE } });
    expect(await rig.remove(plan)).toEqual([]);
    expect(rig.list()).toEqual(["secrets/x"]);
  });
});
