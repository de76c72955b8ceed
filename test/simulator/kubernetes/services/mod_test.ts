import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../../../lib/core/clock.ts";
import {
  startKubernetesSimulator,
  type JsonObject,
  type KubernetesSimulator,
} from "../../../../lib/simulator/kubernetes/mod.ts";

const BALANCED = { type: "LoadBalancer", ports: [{ port: 80 }] };
let simulator: KubernetesSimulator | undefined;
afterEach(() => simulator?.stop());

function start(
  options: Partial<Parameters<typeof startKubernetesSimulator>[0]> = {},
): KubernetesSimulator["objects"] {
  simulator = startKubernetesSimulator({ clock: systemClock, ...options });
  return simulator.objects;
}

function create(objects: KubernetesSimulator["objects"], name: string, spec: JsonObject): unknown {
  return objects.create("services", { metadata: { name }, spec })["spec"];
}

test("a cluster with both families gives both to those who prefer or require them", () => {
  const objects = start({ clusterIpRanges: ["10.96.0.0/16", "fd00::/112"] });
  const both = { ipFamilies: ["IPv4", "IPv6"], clusterIPs: ["10.96.0.3", "fd00::1"] };
  expect(create(objects, "one", BALANCED)).toMatchObject({ ipFamilies: ["IPv4"] });
  const dual = { ...BALANCED, ipFamilyPolicy: "PreferDualStack" };
  expect(create(objects, "two", dual)).toMatchObject(both);
  const single = { spec: { ipFamilyPolicy: "SingleStack" } };
  expect(objects.patch("services", { name: "two" }, single)["spec"]).toMatchObject({
    ipFamilies: ["IPv4"],
    clusterIPs: ["10.96.0.3"],
  });
});

test("a cluster with one family refuses to require both", () => {
  const dual = { ...BALANCED, ipFamilyPolicy: "RequireDualStack" };
  expect(() => create(start(), "one", dual)).toThrow("not configured for dual-stack");
});

test("a range of node ports that is full refuses another Service, and takes one after a deletion", () => {
  const objects = start({ nodePortRange: [30_000, 30_001] });
  create(objects, "one", BALANCED);
  create(objects, "two", BALANCED);
  expect(() => create(objects, "three", BALANCED)).toThrow("range is full");
  objects.delete("services", { name: "one" });
  expect(create(objects, "three", BALANCED)).toMatchObject({ ports: [{ nodePort: 30_000 }] });
});

test("what is only tried takes no address and no port", async () => {
  const objects = start({ nodePortRange: [30_000, 30_000] });
  const body = JSON.stringify({ metadata: { name: "one" }, spec: BALANCED });
  const headers = { "content-type": "application/json" };
  const path = "/api/v1/namespaces/default/services?dryRun=All";
  const response = await fetch(`${simulator?.url}${path}`, { method: "POST", headers, body });
  expect(response.status).toBe(201);
  expect(create(objects, "two", BALANCED)).toMatchObject({ ports: [{ nodePort: 30_000 }] });
});
