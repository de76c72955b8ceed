import { expect, test } from "bun:test";
import { objectAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { withDeploymentDefaults } from "../../../../lib/simulator/kubernetes/workloads/defaults.ts";

/** The image, and how it is pulled. */
const PULLS: readonly (readonly [string, string])[] = [
  ["haproxy", "Always"],
  ["haproxy:latest", "Always"],
  ["haproxy:3.2", "IfNotPresent"],
  ["registry.example.org:5000/haproxy", "Always"],
  ["registry.example.org:5000/haproxy:3.2", "IfNotPresent"],
  ["haproxy@sha256:0123", "IfNotPresent"],
];

test.each(PULLS)("withDeploymentDefaults() pulls %s %s", (image, imagePullPolicy) => {
  const containers = [{ name: "c", image }];
  const { spec } = withDeploymentDefaults({ spec: { template: { spec: { containers } } } });
  expect(spec).toMatchObject({ template: { spec: { containers: [{ imagePullPolicy }] } } });
});

test("withDeploymentDefaults() replaces nothing, and a second time changes nothing", () => {
  const volumes = [{ name: "v", secret: { secretName: "s", defaultMode: 256 } }];
  const template = { spec: { restartPolicy: "Never", volumes, serviceAccount: "sa" } };
  const strategy = { type: "Recreate" };
  const filled = withDeploymentDefaults({ spec: { replicas: 0, strategy, template } });
  expect(filled["spec"]).toMatchObject({ replicas: 0, template });
  expect(objectAt(objectAt(filled, "spec"), "strategy")).toEqual(strategy);
  expect(withDeploymentDefaults(filled)).toEqual(filled);
});
