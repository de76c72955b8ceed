import { expect, test } from "bun:test";
import {
  isOwnedBy,
  judgeOwnership,
} from "../../../../../lib/controllers/sipcluster/services/apply/ownership.ts";
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

test.each<[what: string, metadata: Partial<ObjectMeta>, isOurs: boolean]>([
  ["owned by the cluster", own(), true],
  ["owned by the cluster, without labels", { ...own(), labels: {} }, true],
  ["owned by another cluster", own({ uid: "v", name: "b" }), false],
  ["owned by an earlier cluster of the same name", own({ uid: "v" }), false],
  [
    "owned by another cluster, with our labels",
    { ...own({ uid: "v" }), labels: { ...PART, [LABEL]: "a" } },
    false,
  ],
  ["of SIP without an owner", { labels: PART }, true],
  ["of SIP without an owner, with our label", { labels: { ...PART, [LABEL]: "a" } }, true],
  ["of SIP without an owner, of another cluster", { labels: { ...PART, [LABEL]: "b" } }, false],
  [
    "of SIP with an owner that does not control it",
    { ...own({ uid: "v", controller: false }), labels: PART },
    true,
  ],
  ["of another program without an owner", { labels: { "app.kubernetes.io/part-of": "x" } }, false],
  ["without anything", {}, false],
])("judgeOwnership() of an object %s", (_what, metadata, isOurs) => {
  expect(judgeOwnership(toObject(metadata), CLUSTER).isOurs).toBe(isOurs);
});

test("isOwnedBy() looks at the UID and the namespace, not at names and labels", () => {
  expect(isOwnedBy(toObject(own()), CLUSTER)).toBe(true);
  expect(isOwnedBy(toObject({ ...own(), namespace: "other" }), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ uid: "v" })), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ controller: false })), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject({ labels: { ...PART, [LABEL]: "a" } }), CLUSTER)).toBe(false);
  expect(isOwnedBy(toObject(own({ uid: undefined })), { metadata: { name: "a" } })).toBe(false);
});

test("judgeOwnership() tells what the original operator made from what lost its owner", () => {
  const judge = (labels: Readonly<Record<string, string>>): unknown =>
    judgeOwnership(toObject({ labels }), CLUSTER);
  expect(judge(PART)).toEqual({ isOurs: true, isOriginal: true });
  expect(judge({ ...PART, [LABEL]: "a" })).toEqual({ isOurs: true, isOriginal: false });
});
