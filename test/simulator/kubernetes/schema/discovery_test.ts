import { expect, test } from "bun:test";
import { discover } from "../../../../lib/simulator/kubernetes/schema/discovery.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const LEASES = "coordination.k8s.io";
const STORAGE = "storage.k8s.io";
const ROLES = "rbac.authorization.k8s.io";
const GROUPS = [LEASES, STORAGE, "apps", ROLES, "policy", "discovery.k8s.io"];

function ask(path: string, accept: string = "application/json"): Response {
  return discover(path, new Request(`http://127.0.0.1${path}`, { headers: { accept } }));
}

test.each(["/healthz", "/livez", "/readyz"])("discover() answers %s with ok", async (path) => {
  const response = ask(path);
  expect([response.status, await response.text()]).toEqual([200, "ok"]);
});

test.each([
  ["/version", { major: "1", platform: "none" }],
  ["/api", { kind: "APIVersions", versions: ["v1"] }],
  ["/apis", { kind: "APIGroupList", groups: GROUPS.map((name) => ({ name })) }],
  [
    `/apis/${LEASES}`,
    {
      kind: "APIGroup",
      name: LEASES,
      versions: [{ groupVersion: `${LEASES}/v1`, version: "v1" }],
      preferredVersion: { groupVersion: `${LEASES}/v1`, version: "v1" },
    },
  ],
  [
    `/apis/${LEASES}/v1`,
    {
      kind: "APIResourceList",
      groupVersion: `${LEASES}/v1`,
      resources: [{ name: "leases", singularName: "lease", namespaced: true, kind: "Lease" }],
    },
  ],
  ["/openapi/v3", { paths: { "api/v1": {} } }],
])("discover() answers %s with %j", async (path, expected) => {
  const response = ask(path);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject(expected);
});

test("discover() lists the status of a kind beside the kind, if it has one", async () => {
  const { resources } = (await ask("/api/v1").json()) as { resources: { name: string }[] };
  const names = resources.map((resource) => resource.name);
  expect(names).toEqual(expect.arrayContaining(["nodes", "nodes/status", "events"]));
  expect(names).not.toContain("events/status");
});

test.each([
  ["/api", [{ metadata: {}, versions: [{ version: "v1", freshness: "Current" }] }]],
  [
    "/apis",
    [
      {
        metadata: { name: LEASES },
        versions: [{ resources: [{ resource: "leases", scope: "Namespaced", subresources: [] }] }],
      },
      {
        metadata: { name: STORAGE },
        versions: [{ resources: [{ resource: "volumeattachments", scope: "Cluster" }] }],
      },
      {
        metadata: { name: "apps" },
        versions: [
          { resources: [{ resource: "deployments", subresources: [{ subresource: "status" }] }] },
        ],
      },
      {
        metadata: { name: ROLES },
        versions: [{ resources: [{ resource: "roles" }, { resource: "rolebindings" }] }],
      },
      {
        metadata: { name: "policy" },
        versions: [{ version: "v1", resources: [{ resource: "poddisruptionbudgets" }] }],
      },
      {
        metadata: { name: "discovery.k8s.io" },
        versions: [{ version: "v1", resources: [{ resource: "endpointslices" }] }],
      },
    ],
  ],
])("discover() answers %s with all groups at once when asked to", async (path, items) => {
  // kubectl puts spaces and a second choice into the header.
  const response = ask(path, `${AGGREGATED.replaceAll(";", "; ")},application/json`);
  expect(response.headers.get("content-type")).toBe(AGGREGATED);
  expect(await response.json()).toMatchObject({ kind: "APIGroupDiscoveryList", items });
});

test("discover() says in the aggregated form that nodes have a status", async () => {
  const body = await ask("/api", AGGREGATED).text();
  const nodes = JSON.parse(body).items[0].versions[0].resources[0];
  expect(nodes).toMatchObject({
    resource: "nodes",
    scope: "Cluster",
    subresources: [{ subresource: "status", verbs: ["get", "patch", "update"] }],
  });
});

test.each(["/", "/metrics", "/api/v2", "/apis/batch", `/apis/${LEASES}/v2`, "/openapi/v2"])(
  "discover() knows no %s",
  (path) => {
    expect(() => ask(path)).toThrow("could not find the requested resource");
  },
);
