import { expect, test } from "bun:test";
import { NewestObjects } from "../../../lib/controllers/kinds/newest_objects.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { WrittenVersions } from "../../../lib/engine/written_versions.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { toService } from "../../support/services/service.ts";
import { requireCurrent } from "../../../lib/controllers/kinds/freshness.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";

const KEY = "web/shop";
const toVersion = (resourceVersion: string): Service =>
  toService({ metadata: { resourceVersion } });

function toStage(): { readonly store: Store<Service>; readonly services: NewestObjects<Service> } {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  store.replace([toVersion("1")], "1");
  return { store, services: new NewestObjects(SERVICES, store, new WrittenVersions()) };
}

test("NewestObjects has what our own writes made until the watch shows it or more", () => {
  const { store, services } = toStage();
  const read = (): string | undefined => services.get(KEY)?.metadata.resourceVersion;
  const second = services.note(toVersion("1"), toVersion("2"));
  services.note(second, toVersion("3"));
  expect(read()).toBe("3");
  expect([...services.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(["3"]);
  store.apply(toVersion("2"));
  expect(read()).toBe("3");
  store.apply(toVersion("3"));
  expect(read()).toBe("3");
  store.apply(toVersion("4"));
  expect(read()).toBe("4");
});

test("NewestObjects has nothing of a Service that is gone, nor for another one of its name", () => {
  const { store, services } = toStage();
  services.note(toVersion("1"), toVersion("2"));
  store.apply(toService({ metadata: { uid: "another", resourceVersion: "9" } }));
  expect(services.get(KEY)?.metadata.uid).toBe("another");
  services.note(toVersion("9"), toVersion("10"));
  store.remove(toVersion("11"));
  expect(services.get(KEY)).toBeUndefined();
});

const { signal } = new AbortController();
const CLUSTER: SipCluster = {
  metadata: { name: "a", namespace: "t", uid: "u-1", generation: 2, resourceVersion: "7" },
};

function toClient(answer: SipCluster | KubeError): Pick<KubeClient, "read"> {
  return {
    read: async () => {
      if (answer instanceof KubeError) throw answer;
      return JSON.parse(JSON.stringify(answer));
    },
  };
}

function toCluster(metadata: Partial<SipCluster["metadata"]>): SipCluster {
  return { metadata: { ...CLUSTER.metadata, ...metadata } };
}

test("requireCurrent() returns a cluster whose spec is the same as it is now", async () => {
  const current = toCluster({ resourceVersion: "9" });
  const read = await requireCurrent(toClient(current), SIP_CLUSTERS, CLUSTER, signal);
  expect(read).toEqual(current);
});

test.each<[string, SipCluster | KubeError, string]>([
  ["was made again", toCluster({ uid: "u-2" }), "was changed"],
  ["has another spec or is being deleted", toCluster({ generation: 3 }), "was changed"],
  ["is gone", new KubeError("notFound", "404"), "is gone"],
])("requireCurrent() refuses one that %s", async (_, answer, words) => {
  const message = `SIPCluster "t/a" ${words}, and the watch has not shown it yet`;
  await expect(requireCurrent(toClient(answer), SIP_CLUSTERS, CLUSTER, signal)).rejects.toThrow(
    message,
  );
});

test("requireCurrent() throws what the API server says when it does not tell", async () => {
  const error = new KubeError("unavailable", "503");
  await expect(requireCurrent(toClient(error), SIP_CLUSTERS, CLUSTER, signal)).rejects.toBe(error);
});
