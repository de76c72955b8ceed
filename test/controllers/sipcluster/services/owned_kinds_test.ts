import { expect, test } from "bun:test";
import {
  DEPLOYMENTS,
  toOwned,
} from "../../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SIP_CLUSTERS } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { SECRETS } from "../../../../lib/kube/kinds/secret.ts";
import { trimObject } from "../../../../lib/kube/kinds/resource.ts";

test("toOwned() writes apiVersion and kind before the fields of an object", () => {
  const { resource, body } = toOwned(SECRETS, { name: "a", namespace: "t" }, { type: "Opaque" });
  expect(JSON.stringify(body)).toBe(
    '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"t"},"type":"Opaque"}',
  );
  expect(resource).toMatchObject({ plural: "secrets", namespaced: true });
});

test("a cache keeps what a Deployment is made from, and of its status only what says whether it serves", () => {
  const spec = { replicas: 2, selector: {}, template: { metadata: { labels: { a: "b" } } } };
  const status = { observedGeneration: 1, availableReplicas: 2, collisionCount: 3 };
  const { apiVersion, kind } = SIP_CLUSTERS;
  const ownerReferences = [{ apiVersion, kind, name: "a", uid: "u" }];
  const kept = { name: "a", namespace: "t", generation: 1, ownerReferences };
  const metadata = { ...kept, managedFields: [] };
  expect(trimObject(DEPLOYMENTS, { metadata, spec, status })).toEqual({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: kept,
    spec,
    status: { observedGeneration: 1, availableReplicas: 2 },
  });
});
