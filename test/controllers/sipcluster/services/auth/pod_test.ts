import { expect, test } from "bun:test";
import { planPod } from "../../../../../lib/controllers/sipcluster/services/auth/pod.ts";

const INPUT = {
  account: "dex-a",
  image: "example.org/dex:1",
  configSecret: "config",
  tlsSecret: "tls",
  labels: { app: "dex" },
  tolerations: [],
};

test("planPod() puts the Pods on Nodes with the labels that are asked for", () => {
  expect(planPod(INPUT).nodeSelector).toBeUndefined();
  expect(planPod({ ...INPUT, nodeLabels: {} }).nodeSelector).toBeUndefined();
  expect(planPod({ ...INPUT, nodeLabels: { zone: "a" } }).nodeSelector).toEqual({ zone: "a" });
});

test("planPod() mounts the configuration, and of its Secret nothing else", () => {
  const [config] = planPod(INPUT).volumes ?? [];
  expect(config?.secret?.items).toEqual([{ key: "config.yaml", path: "config.yaml" }]);
});
