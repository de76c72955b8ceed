import { expect, test } from "bun:test";
import type { JsonObject, ObjectAccess } from "../../../lib/simulator/kubernetes/mod.ts";
import { operateHosts } from "../../../lib/simulator/metal3/bare_metal_operator.ts";
import { ClusterApi } from "../../../lib/simulator/metal3/cluster_api.ts";
import { patchHostStatus } from "../../../lib/simulator/metal3/hosts.ts";
import { createHosts, HOSTS } from "../../support/metal3/objects.ts";

const MINE = { "sip.airshipit.org/cluster-name": "a" };
const MACHINE = { namespace: HOSTS, name: "m", hostSelector: MINE };

function label(objects: ObjectAccess, name: string, labels: JsonObject = MINE): void {
  objects.patch("baremetalhosts", { namespace: HOSTS, name }, { metadata: { labels } });
}

function createTwo(): ObjectAccess {
  return createHosts([{ name: "r1", flavors: { worker: 2 } }]);
}

test("step() takes by chance one of the hosts that the selector names", () => {
  const chosen = [0, 1].map((chance) => {
    const objects = createTwo();
    for (const name of ["r1-worker-1", "r1-worker-2"]) label(objects, name);
    const api = new ClusterApi(objects, () => chance);
    api.add(MACHINE);
    expect(api.step()).toHaveLength(1);
    expect(api.step()).toEqual([]);
    return api.list().map(({ host }) => host);
  });
  expect(chosen).toEqual([[`${HOSTS}/r1-worker-1`], [`${HOSTS}/r1-worker-2`]]);
});

const REFERENCE = { kind: "Metal3Machine", namespace: HOSTS, name: "other" };

/** Why a host is not taken, and how it gets that way. */
const REFUSED: readonly (readonly [string, (objects: ObjectAccess, path: typeof PATH) => void])[] =
  [
    [
      "has no label",
      (objects) => label(objects, PATH.name, { [Object.keys(MINE)[0] ?? ""]: null }),
    ],
    [
      "is used",
      (objects, path) =>
        void objects.patch("baremetalhosts", path, { spec: { consumerRef: REFERENCE } }),
    ],
    ["is being deleted", (objects, path) => void objects.delete("baremetalhosts", path)],
    ["has an error", (objects, path) => void patchHostStatus(objects, path, { errorMessage: "x" })],
    ...["baremetalhost.metal3.io/paused", "capm3.metal3.io/unhealthy"].map(
      (key) =>
        [
          `has ${key}`,
          (objects: ObjectAccess, path: typeof PATH): void =>
            void objects.patch("baremetalhosts", path, {
              metadata: { annotations: { [key]: "" } },
            }),
        ] as const,
    ),
    [
      "is not available",
      (objects, path) =>
        void patchHostStatus(objects, path, { provisioning: { state: "inspecting" } }),
    ],
  ];
const PATH = { namespace: HOSTS, name: "r1-worker-1" };

test.each(REFUSED)("step() takes no host that %s", (_, prevent) => {
  const objects = createTwo();
  label(objects, PATH.name);
  prevent(objects, PATH);
  const api = new ClusterApi(objects, () => 0);
  api.add(MACHINE);
  expect(api.step()).toEqual([]);
});

test("step() takes no host of another namespace", () => {
  const objects = createTwo();
  label(objects, PATH.name);
  const api = new ClusterApi(objects, () => 0);
  api.add({ ...MACHINE, namespace: "kube-system" });
  expect(api.step()).toEqual([]);
});

test("step() prefers hosts of the machine's failure domain", () => {
  const objects = createTwo();
  const domain = { "infrastructure.cluster.x-k8s.io/failure-domain": "far" };
  label(objects, "r1-worker-1");
  label(objects, "r1-worker-2", { ...MINE, ...domain });
  const api = new ClusterApi(objects, () => 0);
  api.add({ ...MACHINE, failureDomain: "far" });
  api.step();
  expect(api.list()).toMatchObject([{ host: `${HOSTS}/r1-worker-2` }]);
});

test("step() has the host of a deleted machine cleaned before it gives it back", () => {
  const objects = createTwo();
  label(objects, PATH.name);
  const api = new ClusterApi(objects, () => 0);
  api.add(MACHINE);
  api.step();
  for (let steps = 0; steps < 2; steps += 1) operateHosts(objects);
  api.remove(MACHINE);
  expect(api.step()).toEqual(["m has r1-worker-1 cleaned"]);
  expect(api.step()).toEqual([]);
  expect(api.list()).toMatchObject([{ host: `${HOSTS}/r1-worker-1`, isLeaving: true }]);
  for (let steps = 0; steps < 2; steps += 1) operateHosts(objects);
  expect(api.step()).toEqual(["m gave r1-worker-1 back"]);
  expect(objects.get("baremetalhosts", PATH)?.["spec"]).not.toHaveProperty("consumerRef");
  expect(api.step()).toEqual(["m is gone"]);
  expect(api.list()).toEqual([]);
});
