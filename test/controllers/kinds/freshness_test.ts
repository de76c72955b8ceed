import { expect, test } from "bun:test";
import { requireCurrent } from "../../../lib/controllers/kinds/freshness.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";

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
