/**
 * What the applier does with the objects of services, on a simulated API server.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { rollOutDeployments } from "../../../../lib/simulator/kubernetes/controllers/deployments.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  NAMESPACE,
  SIP_LABELS,
  startApplier,
  toPlan,
} from "../../../support/sipcluster/applier_rig.ts";

const ALL = ["secrets", "poddisruptionbudgets", "deployments", "services"];
const NAME = "jumphost-a";
const CHECK_MS = 600_000;

const isWrite = (request: string): boolean => !request.startsWith("get ");

/** Applies the plan, and lists what was written. Objects that are not watched may also be read. */
async function listWrites(rig: Rig): Promise<readonly string[]> {
  return (await rig.apply(toPlan())).requests.filter(isWrite);
}

type Rig = Awaited<ReturnType<typeof startApplier>>;

/** The containers of the Deployment, as they are now. */
function listContainers(rig: Rig): JsonObject[] {
  const { spec } = Object(rig.find("deployments", NAME));
  return spec.template.spec.containers;
}

/** The `spec` of a Deployment of somebody else. */
function toPodSpec(labels: Readonly<Record<string, string>>): JsonObject {
  const containers = [{ name: "theirs", image: "example.org/theirs:1" }];
  return {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
}

describe("a new service", () => {
  test("gets all its objects, the Service last, owned by the cluster and labelled", async () => {
    await using rig = await startApplier();
    const { problems, requests } = await rig.apply(toPlan());
    expect([problems, requests]).toEqual([
      [],
      [
        `get secrets/${NAME}`,
        `patch secrets/${NAME}`,
        `get poddisruptionbudgets/${NAME}`,
        `patch poddisruptionbudgets/${NAME}`,
        `get deployments/${NAME}`,
        `patch deployments/${NAME}`,
        `get services/${NAME}`,
        `patch services/${NAME}`,
      ],
    ]);
    for (const plural of ALL) {
      expect(rig.find(plural, NAME)?.metadata).toMatchObject({
        labels: { ...SIP_LABELS, "landfall.dev/sip-cluster": "a" },
        annotations: { "landfall.dev/sip-service": "jumpHost" },
        ownerReferences: [
          {
            apiVersion: "airship.airshipit.org/v1",
            kind: "SIPCluster",
            name: "a",
            uid: rig.cluster.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
    }
  });

  test("costs nothing while it is as wanted, before and after the views show it, and after a restart", async () => {
    await using rig = await startApplier();
    const plan = toPlan();
    await rig.settle();
    rig.kubernetes.faults.silentWatches = true;
    await rig.applier.apply(rig.cluster, [plan], rig.signal);
    rig.kubernetes.faults.silentWatches = false;
    rig.takeRequests();
    await rig.applier.apply(rig.cluster, [plan], rig.signal);
    expect(rig.takeRequests()).toEqual([]);
    rollOutDeployments(rig.kubernetes.objects, { now: "2026-01-01T00:00:00Z" });
    expect((await rig.apply(plan)).requests).toEqual([]);
    await rig.restart();
    expect((await rig.apply(plan)).requests).toEqual([
      `get secrets/${NAME}`,
      `get poddisruptionbudgets/${NAME}`,
    ]);
    expect((await rig.apply(plan)).requests).toEqual([]);
  });

  test("is not sent again while the views show it as it was before the last write", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    await rig.settle();
    rig.kubernetes.faults.silentWatches = true;
    const plan = toPlan({ replicas: 3 });
    await rig.applier.apply(rig.cluster, [plan], rig.signal);
    expect(rig.applier.findDeployment(`${NAMESPACE}/${NAME}`)?.spec?.replicas).toBe(3);
    rig.takeRequests();
    await rig.applier.apply(rig.cluster, [plan], rig.signal);
    expect(rig.takeRequests()).toEqual([]);
  });

  test("is made for one UID, so that another object of its name is never changed", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    await rig.apply(toPlan({ replicas: 3 }));
    const metadata = { uid: rig.find("deployments", NAME)?.metadata.uid };
    expect(rig.listBodies("PATCH").at(-1)).toMatchObject({ kind: "Deployment", metadata });
  });
});

describe("a changed plan", () => {
  test("is sent only where it differs", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    const { requests } = await rig.apply(toPlan({ config: "two" }));
    expect(requests).toEqual([`get secrets/${NAME}`, `patch secrets/${NAME}`]);
    expect((await rig.apply(toPlan({ config: "two", nodePort: 30002 }))).requests).toEqual([
      `patch services/${NAME}`,
    ]);
    expect(rig.find("services", NAME)).toMatchObject({ spec: { ports: [{ nodePort: 30002 }] } });
  });

  test("with another selector makes the Deployment again when the old one and its Pods are gone", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    // It stays until its Pods are gone.
    await rig.edit("deployments", NAME, { metadata: { finalizers: ["foregroundDeletion"] } });
    const plan = toPlan({ selector: { app: "other" } });
    const { problems, requests } = await rig.apply(plan);
    expect(requests).toEqual([
      `get poddisruptionbudgets/${NAME}`,
      `patch poddisruptionbudgets/${NAME}`,
      `delete deployments/${NAME}`,
    ]);
    expect(problems).toEqual([
      `jumpHost Progressing: Deployment ${NAME} is made again, because Kubernetes does not change its spec.selector`,
    ]);
    const waiting = await rig.apply(plan);
    expect([waiting.requests, waiting.againMs]).toEqual([[], 5_000]);
    expect(waiting.problems).toEqual([
      `jumpHost Progressing: Deployment ${NAME} is being deleted, and is made again then`,
    ]);
    await rig.edit("deployments", NAME, { metadata: { finalizers: null } });
    expect((await rig.apply(plan)).problems).toEqual([]);
    expect(rig.find("deployments", NAME)).toMatchObject({
      spec: { selector: { matchLabels: { app: "other" } } },
    });
  });
});

describe("what others change", () => {
  test.each([
    ["a node port", "services", { spec: { ports: [{ name: "ssh", port: 22, nodePort: 30009 }] } }],
    [
      "an image",
      "deployments",
      {
        spec: {
          template: {
            spec: { containers: [{ name: "c", image: "x", imagePullPolicy: "IfNotPresent" }] },
          },
        },
      },
    ],
    ["a number of Pods", "deployments", { spec: { replicas: 0 } }],
    ["a label", "deployments", { metadata: { labels: { "app.kubernetes.io/part-of": "x" } } }],
    [
      "the label of the cluster",
      "services",
      { metadata: { labels: { "landfall.dev/sip-cluster": null } } },
    ],
    ["the owner", "services", { metadata: { ownerReferences: null } }],
    ["the owner of a Deployment", "deployments", { metadata: { ownerReferences: null } }],
  ])("comes back by one write if it is %s", async (_what, plural, patch) => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    const before = rig.find(plural, NAME);
    await rig.edit(plural, NAME, patch);
    const { problems, requests } = await rig.apply(toPlan());
    expect(problems).toEqual([]);
    expect(requests.filter((one) => one !== `get ${plural}/${NAME}`)).toEqual([
      `patch ${plural}/${NAME}`,
    ]);
    expect(rig.find(plural, NAME)).toMatchObject({
      spec: before?.["spec"],
      metadata: {
        labels: before?.metadata["labels"],
        ownerReferences: before?.metadata["ownerReferences"],
      },
    });
    expect(await listWrites(rig)).toEqual([]);
  });

  test("comes back if it is a deleted Deployment or Service", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    for (const plural of ["deployments", "services"]) {
      rig.kubernetes.objects.delete(plural, { name: NAME, namespace: NAMESPACE });
      expect(await listWrites(rig)).toEqual([`patch ${plural}/${NAME}`]);
    }
  });

  test("comes back at the next check if it is not watched: a Secret's content, a deleted budget", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    await rig.edit("secrets", NAME, { data: { config: "Zm9yZ2Vk", theirs: "eA==" } });
    rig.kubernetes.objects.delete("poddisruptionbudgets", { name: NAME, namespace: NAMESPACE });
    await rig.clock.advance(CHECK_MS - 1_000);
    const early = await rig.apply(toPlan());
    expect([early.requests, early.againMs]).toEqual([[], 1_000]);
    await rig.clock.advance(1_000);
    expect((await rig.apply(toPlan())).requests).toEqual([
      `get secrets/${NAME}`,
      `patch secrets/${NAME}`,
      `get poddisruptionbudgets/${NAME}`,
      `patch poddisruptionbudgets/${NAME}`,
    ]);
    expect(rig.find("secrets", NAME)).toMatchObject({ data: { config: "b25l", theirs: "eA==" } });
  });

  test("comes back with a watched object of the cluster, if it is not watched itself", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    await rig.edit("secrets", NAME, { data: { config: "Zm9yZ2Vk" } });
    rig.kubernetes.objects.delete("services", { name: NAME, namespace: NAMESPACE });
    await rig.apply(toPlan());
    expect((await rig.apply(toPlan())).requests).toEqual([
      `get secrets/${NAME}`,
      `patch secrets/${NAME}`,
      `get poddisruptionbudgets/${NAME}`,
    ]);
    expect(rig.find("secrets", NAME)).toMatchObject({ data: { config: "b25l" } });
  });

  test("stays if it does not change how a service serves", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    await rig.edit("services", NAME, { metadata: { annotations: { theirs: "1" } } });
    expect(await listWrites(rig)).toEqual([]);
  });

  const ssh = { name: "ssh", port: 22, protocol: "TCP", nodePort: 30001 };
  const extra = { name: "more", port: 80, protocol: "TCP" };
  const sidecar = { name: "theirs", image: "example.org/theirs:1" };
  test.each<[string, string, (rig: Rig) => JsonObject]>([
    ["a port", "services", () => ({ spec: { ports: [ssh, extra] } })],
    ["a key of the selector", "services", () => ({ spec: { selector: { theirs: "1" } } })],
    [
      "a container",
      "deployments",
      (rig) => ({
        spec: { template: { spec: { containers: [...listContainers(rig), sidecar] } } },
      }),
    ],
    [
      "an init container",
      "deployments",
      () => ({ spec: { template: { spec: { initContainers: [sidecar] } } } }),
    ],
  ])("goes if it is %s, and what is ours stays", async (_what, plural, toEdit) => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    const before = rig.find(plural, NAME)?.["spec"];
    await rig.edit(plural, NAME, toEdit(rig));
    expect(rig.find(plural, NAME)?.["spec"]).not.toEqual(before);
    const patch = `patch ${plural}/${NAME}`;
    expect(await listWrites(rig)).toEqual([patch, patch]);
    expect(rig.find(plural, NAME)?.["spec"]).toEqual(before);
    expect(await listWrites(rig)).toEqual([]);
  });

  test("is left to them for a while after five corrections in a minute", async () => {
    await using rig = await startApplier();
    await rig.apply(toPlan());
    const forge = (): Promise<void> => rig.edit("deployments", NAME, { spec: { replicas: 7 } });
    for (let round = 0; round < 5; round += 1) {
      await forge();
      expect(await listWrites(rig)).toEqual([`patch deployments/${NAME}`]);
      await rig.clock.advance(1_000);
    }
    await forge();
    const held = await rig.apply(toPlan());
    expect([held.requests.filter(isWrite), held.againMs]).toEqual([[], 55_000]);
    expect(held.problems).toEqual([
      `jumpHost Contested: Deployment ${NAME} is changed by another program again and again`,
    ]);
    // A cluster of the same name that is made later starts without that.
    rig.applier.forget(`${NAMESPACE}/a`);
    expect(await listWrites(rig)).toEqual([`patch deployments/${NAME}`]);
    await forge();
    expect(await listWrites(rig)).toEqual([`patch deployments/${NAME}`]);
  });
});

describe("an object of the same name", () => {
  const OWNER = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    name: "db",
    uid: "u-1",
    controller: true,
  };

  test.each([
    ["of another owner", { ownerReferences: [OWNER] }, "belongs to StatefulSet db"],
    [
      "of an earlier SIPCluster",
      {
        ownerReferences: [
          { ...OWNER, apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", name: "a" },
        ],
      },
      "belongs to an earlier SIPCluster of this name, and Kubernetes did not delete it yet",
    ],
    ["that a person made", {}, "exists, and was not made for this SIPCluster: delete or rename it"],
    [
      "that an other SIPCluster left behind",
      { labels: { ...SIP_LABELS, "landfall.dev/sip-cluster": "b" } },
      "has the label of another SIPCluster: b",
    ],
  ])(
    "%s is not touched, and the problem names it; other services go on",
    async (_what, metadata, says) => {
      await using rig = await startApplier();
      const name = { name: NAME, namespace: NAMESPACE };
      const before = rig.kubernetes.objects.create("deployments", {
        metadata: { ...name, ...metadata },
        spec: toPodSpec({ a: "b" }),
      });
      const other = toPlan({ service: "auth", name: "dex-a", nodePort: 30002 });
      const { problems, againMs } = await rig.apply(toPlan(), other);
      expect(problems).toEqual([`jumpHost NameTaken: Deployment ${NAME} ${says}`]);
      expect(againMs).toBe(60_000);
      expect(rig.find("deployments", NAME)).toEqual(before);
      expect(rig.find("services", "dex-a")).toBeDefined();
      expect(await rig.remove(toPlan())).toHaveLength(6);
      expect(rig.find("deployments", NAME)).toEqual(before);
    },
  );

  test("that the original operator made is taken over, and a Deployment is made again", async () => {
    await using rig = await startApplier();
    const metadata = { name: NAME, namespace: NAMESPACE, labels: SIP_LABELS };
    rig.kubernetes.objects.create("deployments", { metadata, spec: toPodSpec(SIP_LABELS) });
    const port = { name: "ssh", port: 22, protocol: "TCP", nodePort: 30001 };
    rig.kubernetes.objects.create("services", {
      metadata,
      spec: { type: "NodePort", ports: [port] },
    });
    rig.kubernetes.objects.create("secrets", { metadata, type: "Opaque", data: { hosts: "eA==" } });
    const { uid } = rig.find("services", NAME)?.metadata ?? {};
    // With the same selector: it could be changed, but would keep what the original operator set.
    const plan = toPlan({ selector: SIP_LABELS });
    expect((await rig.apply(plan)).problems).toEqual([
      `jumpHost Progressing: Deployment ${NAME} is made again, because the original operator made it`,
    ]);
    expect((await rig.apply(plan)).problems).toEqual([]);
    expect(rig.find("services", NAME)).toMatchObject({
      metadata: { uid, ownerReferences: [{ uid: rig.cluster.metadata.uid }] },
      spec: { ports: [port], selector: SIP_LABELS },
    });
    expect(rig.find("secrets", NAME)).toMatchObject({ data: { config: "b25l" } });
    expect(rig.find("deployments", NAME)).toMatchObject({
      spec: { replicas: 2, template: { spec: { containers: [{ name: "c" }] } } },
    });
    expect((await rig.apply(plan)).requests).toEqual([]);
  });
});
