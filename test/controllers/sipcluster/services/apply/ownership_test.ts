import { expect, test } from "bun:test";
import { isOwnedBy } from "../../../../../lib/controllers/sipcluster/services/apply/objects.ts";
import type { SipCluster } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { KubeObject, ObjectMeta } from "../../../../../lib/kube/kinds/resource.ts";

const CLUSTER: SipCluster = { metadata: { name: "a", namespace: "tenant", uid: "u" } };
const OWNER = { apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", name: "a", uid: "u" };
const PART = { "app.kubernetes.io/part-of": "sip" };
const LABEL = "landfall.dev/sip-cluster";

function toObject(metadata: Partial<ObjectMeta>): KubeObject {
  return { metadata: { name: "x", namespace: "tenant", ...metadata } };
}
const own = (over: object = {}): Partial<ObjectMeta> => ({
  ownerReferences: [{ ...OWNER, controller: true, ...over }],
});

test("isOwnedBy() looks at the UID and the namespace, not at names and labels", () => {
  expect(isOwnedBy(toObject(own()), CLUSTER)).toBe(true);
  expect(isOwnedBy(toObject({ ...own(), namespace: "other" }), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ uid: "v" })), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ controller: false })), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject({ labels: { ...PART, [LABEL]: "a" } }), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ uid: undefined })), { metadata: { name: "a" } })).toBe(false);
});
