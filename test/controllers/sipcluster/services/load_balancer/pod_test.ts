import { describe, expect, test } from "bun:test";
import {
  type PodInput,
  planPod,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/objects.ts";

const INPUT: PodInput = {
  image: "haproxy:2.3.2",
  configMap: "loadbalancer-worker-acme",
  configHash: "0123456789abcdef",
  ports: [{ name: "port-30002", port: 30002 }],
  healthPort: 8404,
  labels: { "app.kubernetes.io/instance": "loadbalancer-worker-acme" },
  tolerations: [{ key: "edge", operator: "Exists" }],
};

describe("planPod()", () => {
  const pod = planPod(INPUT);
  const containers = [...(pod.initContainers ?? []), ...pod.containers];

  test("runs both containers from the image of the entry, without rights of any kind", () => {
    expect(containers.map(({ name, image }) => [name, image])).toEqual([
      ["check", "haproxy:2.3.2"],
      ["loadbalancer", "haproxy:2.3.2"],
    ]);
    for (const { securityContext, resources } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
      });
      expect(resources?.limits).toHaveProperty("memory");
      expect(resources?.requests).toHaveProperty("cpu");
    }
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 99,
      seccompProfile: { type: "RuntimeDefault" },
    });
  });

  test("serves only a copy of the configuration that was checked", () => {
    const [check, haproxy] = containers;
    const mounts = (of = check): string[] => (of?.volumeMounts ?? []).map(({ name }) => name);
    expect(mounts(check)).toEqual(["source", "config"]);
    expect(mounts(haproxy)).toEqual(["config"]);
    expect(check?.command?.slice(3)).toEqual([
      "/etc/haproxy-source/haproxy.cfg",
      "/usr/local/etc/haproxy/haproxy.cfg",
      "0123456789abcdef",
    ]);
    expect(haproxy?.command?.at(-1)).toBe("/usr/local/etc/haproxy/haproxy.cfg");
    expect(pod.volumes?.[0]?.configMap?.name).toBe("loadbalancer-worker-acme");
  });

  test("is probed on a port of its own, which does not depend on the servers", () => {
    const haproxy = pod.containers[0];
    expect(haproxy?.ports).toEqual([
      { name: "port-30002", containerPort: 30002, hostPort: 0, protocol: "TCP" },
      { name: "health", containerPort: 8404, hostPort: 0, protocol: "TCP" },
    ]);
    for (const probe of [haproxy?.readinessProbe, haproxy?.livenessProbe]) {
      expect(probe?.httpGet).toMatchObject({ path: "/healthz", port: "health" });
    }
  });

  test("has time to end its connections", () => {
    const pause = Number(pod.containers[0]?.lifecycle?.preStop?.exec?.command?.at(-1));
    const hardStopAfter = 40;
    expect(pause).toBeGreaterThanOrEqual(5);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + hardStopAfter);
  });

  test("runs on different Nodes if it can, and on those that the operator lets it tolerate", () => {
    expect(pod.topologySpreadConstraints).toEqual([
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: INPUT.labels },
      },
    ]);
    expect(pod.tolerations).toEqual(INPUT.tolerations);
    expect(pod).not.toHaveProperty("nodeSelector");
    expect(planPod({ ...INPUT, nodeLabels: {} })).not.toHaveProperty("nodeSelector");
  });

  test("runs on Nodes with the labels of the entry", () => {
    expect(planPod({ ...INPUT, nodeLabels: { edge: "yes" } }).nodeSelector).toEqual({
      edge: "yes",
    });
  });
});
