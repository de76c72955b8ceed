import { expect, test } from "bun:test";
import {
  planBudget,
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
