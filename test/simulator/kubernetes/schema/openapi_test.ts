import { expect, test } from "bun:test";
import { openApiAt } from "../../../../lib/simulator/kubernetes/schema/openapi.ts";

test("openApiAt() names a document for each group and version", () => {
  const paths = [
    "api/v1",
    "apis/coordination.k8s.io/v1",
    "apis/storage.k8s.io/v1",
    "apis/apps/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/policy/v1",
    "apis/discovery.k8s.io/v1",
  ];
  expect(openApiAt("/openapi/v3")).toEqual({
    paths: Object.fromEntries(
      paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }]),
    ),
  });
});

test.each([
  ["/openapi/v3/api/v1", "/api/v1/nodes/{name}", "Node"],
  ["/openapi/v3/api/v1", "/api/v1/namespaces/{namespace}/events/{name}", "Event"],
  [
    "/openapi/v3/apis/coordination.k8s.io/v1",
    "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}",
    "Lease",
  ],
])("openApiAt() %s says of %s that patches of a %s are checked", (pathname, path, kind) => {
  const document = openApiAt(pathname);
  expect(document?.["paths"]).toHaveProperty([path]);
  expect(document?.["paths"]).toMatchObject({
    [path]: {
      patch: {
        "x-kubernetes-group-version-kind": { version: "v1", kind },
        parameters: [
          { name: "fieldValidation", in: "query" },
          { name: "dryRun", in: "query" },
        ],
      },
    },
  });
});

test("openApiAt() keeps the kinds of other groups out of a document", () => {
  const document = openApiAt("/openapi/v3/apis/coordination.k8s.io/v1");
  expect(Object.keys(document?.["paths"] ?? {})).toHaveLength(1);
});

test.each(["/openapi/v2", "/openapi/v3/", "/openapi/v3/api/v2", "/api/v1", "/xxxxxxx/xx/api/v1"])(
  "openApiAt() has nothing at %s",
  (pathname) => {
    expect(openApiAt(pathname)).toBeUndefined();
  },
);
