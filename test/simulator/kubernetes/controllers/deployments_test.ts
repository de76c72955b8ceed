import { expect, test } from "bun:test";
import { systemClock } from "../../../../lib/core/clock.ts";
import { rollOutDeployments } from "../../../../lib/simulator/kubernetes/controllers/deployments.ts";
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { ObjectAccess } from "../../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../../lib/simulator/kubernetes/registry.ts";

const NOW = "2026-01-02T03:04:05Z";
const LATER = "2026-01-02T03:05:05Z";
const PATH = { name: "web", namespace: "default" };

function createDeployment(replicas: number): ObjectAccess {
  const objects = new ObjectAccess(new Registry(systemClock, 100));
  const labels = { app: "web" };
  const containers = [{ name: "c", image: "example.org/web:1" }];
  objects.create("deployments", {
    metadata: PATH,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  return objects;
}

function read(objects: ObjectAccess): ApiObject | undefined {
  return objects.get("deployments", PATH);
}

test("rollOutDeployments() reports the newest generation as available, once", () => {
  const objects = createDeployment(2);
  expect(rollOutDeployments(objects, { now: NOW })).toBe(1);
  expect(read(objects)?.["status"]).toMatchObject({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    conditions: [{ type: "Available", status: "True", lastTransitionTime: NOW }],
  });
  expect(rollOutDeployments(objects, { now: LATER })).toBe(0);
});

test("rollOutDeployments() follows another number of replicas, and keeps the time of the condition", () => {
  const objects = createDeployment(2);
  rollOutDeployments(objects, { now: NOW });
  objects.patch("deployments", PATH, { spec: { replicas: 3 } });
  expect(rollOutDeployments(objects, { now: LATER })).toBe(1);
  expect(read(objects)?.["status"]).toMatchObject({
    observedGeneration: 2,
    availableReplicas: 3,
    conditions: [{ lastTransitionTime: NOW }],
  });
});

test("rollOutDeployments() reports what does not become ready as not available, with the time of the change", () => {
  const objects = createDeployment(2);
  rollOutDeployments(objects, { now: NOW });
  expect(rollOutDeployments(objects, { now: LATER, isReady: () => false })).toBe(1);
  const status = read(objects)?.["status"];
  expect(status).toMatchObject({
    unavailableReplicas: 2,
    conditions: [{ status: "False", lastTransitionTime: LATER }],
  });
  expect(status).not.toHaveProperty("availableReplicas");
});
