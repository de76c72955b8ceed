import { describe, expect, test } from "bun:test";
import {
  type ObjectsInput,
  planObjects,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/objects.ts";
import { CONFIG_HASH } from "../../../../../lib/controllers/sipcluster/words.ts";

const INPUT: ObjectsInput = {
  name: "loadbalancer-controlplane-acme",
  namespace: "acme-infra",
  config: "global\n",
  image: "haproxy:2.3.2",
  ports: [{ name: "http", port: 6443, nodePort: 30001 }],
  healthPort: 8404,
};
const LABELS = {
  "app.kubernetes.io/part-of": "sip",
  "app.kubernetes.io/component": "loadbalancer",
  "app.kubernetes.io/name": "haproxy",
  "app.kubernetes.io/instance": "loadbalancer-controlplane-acme",
};

function bodyOf(kind: string, fields: Partial<ObjectsInput> = {}): object {
  const found = planObjects({ ...INPUT, ...fields }).find(({ body }) => body.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found.body;
}

describe("planObjects()", () => {
  test("gives all objects the name and labels of the original operator", () => {
    const objects = planObjects(INPUT);
    expect(objects.map(({ body }) => body.kind)).toEqual([
      "Secret",
      "Deployment",
      "Service",
      "PodDisruptionBudget",
    ]);
    for (const { body, resource } of objects) {
      const { name, namespace } = INPUT;
      expect(body.metadata).toEqual({ name, namespace, labels: LABELS });
      expect(body).toMatchObject({ apiVersion: resource.apiVersion, kind: resource.kind });
    }
  });

  test("puts the configuration into the Secret", () => {
    expect(bodyOf("Secret")).toMatchObject({
      type: "Opaque",
      data: { "haproxy.cfg": btoa("global\n") },
    });
  });

  test("opens the node port that the entry names, or one that Kubernetes chooses", () => {
    const port = { name: "http", port: 6443, targetPort: 6443, protocol: "TCP" };
    const defaults = {
      externalTrafficPolicy: "Cluster",
      publishNotReadyAddresses: false,
      sessionAffinity: "None",
    };
    const spec = { type: "NodePort", ...defaults, selector: LABELS };
    expect(bodyOf("Service")).toHaveProperty("spec", {
      ...spec,
      ports: [{ ...port, nodePort: 30001 }],
    });
    const ports = [{ name: "http", port: 6443, nodePort: 0 }];
    expect(bodyOf("Service", { ports, clusterIP: "10.96.0.9" })).toHaveProperty("spec", {
      ...spec,
      ports: [port],
      clusterIP: "10.96.0.9",
    });
  });

  test("keeps a Pod until another one is ready", () => {
    expect(bodyOf("Deployment")).toMatchObject({
      spec: {
        replicas: 2,
        selector: { matchLabels: LABELS },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: { metadata: { labels: LABELS } },
      },
    });
    expect(bodyOf("PodDisruptionBudget")).toMatchObject({
      spec: { minAvailable: 1, selector: { matchLabels: LABELS } },
    });
  });

  test("rolls the Pods if and only if the configuration differs", () => {
    const same = JSON.stringify(bodyOf("Deployment"));
    expect(JSON.stringify(bodyOf("Deployment", { config: "global\n" }))).toBe(same);
    const other = JSON.stringify(bodyOf("Deployment", { config: "global\n\n" }));
    expect(other).not.toBe(same);
    const [, hash = ""] = new RegExp(`"${CONFIG_HASH}":"([0-9a-f]{16})"`).exec(other) ?? [];
    // In the annotation, and for the container that checks it.
    expect(other.split(hash)).toHaveLength(3);
  });
});
