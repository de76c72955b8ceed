import { expect, test } from "bun:test";
import {
  planBudget,
  planNodePorts,
  planReplicas,
} from "../../../../lib/controllers/sipcluster/services/common_objects.ts";
import { CONFIG_HASH } from "../../../../lib/controllers/sipcluster/words.ts";

const METADATA = { name: "proxy", namespace: "tenant", labels: { app: "haproxy" } };

test("planReplicas() rolls its Pods when what they read differs, and never below one", () => {
  const { resource, body } = planReplicas(METADATA, { configHash: "h1", pod: { containers: [] } });
  expect(resource.kind).toBe("Deployment");
  expect(body).toMatchObject({
    metadata: METADATA,
    spec: {
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      selector: { matchLabels: METADATA.labels },
      template: {
        metadata: { labels: METADATA.labels, annotations: { [CONFIG_HASH]: "h1" } },
        spec: { containers: [] },
      },
    },
  });
});

test("planBudget() keeps one Pod", () => {
  expect(planBudget(METADATA).body).toMatchObject({
    spec: { minAvailable: 1, selector: { matchLabels: METADATA.labels } },
  });
});

test.each<[string, { nodePort?: number; clusterIP?: string }, object, object]>([
  ["chooses nothing", {}, {}, {}],
  ["chooses nothing, in words", { nodePort: 0, clusterIP: "" }, {}, {}],
  [
    "chooses both",
    { nodePort: 30_443, clusterIP: "10.0.0.9" },
    { nodePort: 30_443 },
    { clusterIP: "10.0.0.9" },
  ],
])("planNodePorts() of a spec that %s", (_what, { nodePort, clusterIP }, port, service) => {
  const ports = [{ name: "https", port: 443, targetPort: "https", nodePort }];
  const body: object = planNodePorts(METADATA, { ports, clusterIP }).body;
  expect(body).toEqual({
    apiVersion: "v1",
    kind: "Service",
    metadata: METADATA,
    spec: {
      type: "NodePort",
      externalTrafficPolicy: "Cluster",
      publishNotReadyAddresses: false,
      sessionAffinity: "None",
      selector: METADATA.labels,
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: "https", ...port }],
      ...service,
    },
  });
});
