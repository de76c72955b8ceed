import { expect, test } from "bun:test";
import { formatAge, toTable } from "../../../lib/simulator/kubernetes/tables.ts";
import { findKind } from "../../../lib/simulator/kubernetes/schema/kinds.ts";

const NOW_MS = Date.UTC(2026, 0, 10);
const HOUR = 3600;

test.each([
  [5, "5s"],
  [119, "119s"],
  [200, "3m20s"],
  [12 * 60, "12m"],
  [5 * HOUR + 180, "5h3m"],
  [26 * HOUR, "26h"],
  [3 * 24 * HOUR + HOUR, "3d1h"],
  [12 * 24 * HOUR, "12d"],
  [770 * 24 * HOUR, "2y40d"],
])("formatAge() of %p seconds is %s", (seconds, expected) => {
  expect(formatAge(new Date(NOW_MS - seconds * 1000).toISOString(), NOW_MS)).toBe(expected);
});

test("formatAge() of no time is unknown", () => {
  expect(formatAge("", NOW_MS)).toBe("<unknown>");
});

test("toTable() carries what label columns need", () => {
  const kind = findKind("", "v1", "nodes");
  if (kind === undefined) throw new TypeError("no kind for nodes");
  const own = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-09T23:59:00Z" };
  const node = {
    metadata: { name: "n", labels: { a: "b" }, ...own },
    spec: { unschedulable: true },
  };
  const table = toTable(kind, [node], { includeObject: "Metadata", nowMs: NOW_MS });
  expect(table["rows"]).toMatchObject([
    {
      cells: ["n", "Unknown,SchedulingDisabled", "<none>", "60s", "", "<none>", "<none>"].concat([
        "<unknown>",
        "<unknown>",
        "<unknown>",
      ]),
      object: { kind: "PartialObjectMetadata", metadata: { labels: { a: "b" } } },
    },
  ]);
});

test("toTable() says which columns of a custom kind only a wide table has", () => {
  const columns = [
    { name: "A", type: "string", jsonPath: ".spec.a" },
    { name: "B", type: "string", jsonPath: ".spec.b", priority: 1 },
  ] as const;
  const kind = findKind("", "v1", "services");
  if (kind === undefined) throw new TypeError("no kind for services");
  const table = toTable({ ...kind, columns }, [], { includeObject: "None", nowMs: NOW_MS });
  expect(table["columnDefinitions"]).toMatchObject([
    { name: "Name", priority: 0 },
    { name: "A", priority: 0 },
    { name: "B", priority: 1 },
  ]);
});

test.each([
  [{ type: "ClusterIP", clusterIP: "10.96.0.2" }, ["ClusterIP", "10.96.0.2", "<none>", "<none>"]],
  [
    { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30_000, protocol: "TCP" }] },
    ["LoadBalancer", "<none>", "<pending>", "80:30000/TCP"],
  ],
])("toTable() of a Service %j has %j", (spec, cells) => {
  const kind = findKind("", "v1", "services");
  if (kind === undefined) throw new TypeError("no kind for services");
  const own = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-09T23:59:00Z" };
  const service = { metadata: { name: "s", ...own }, spec };
  const table = toTable(kind, [service], { includeObject: "None", nowMs: NOW_MS });
  expect(table["rows"]).toEqual([{ cells: ["s", ...cells, "60s"], object: null }]);
});

test("toTable() shows the address that a load balancer has", () => {
  const kind = findKind("", "v1", "services");
  if (kind === undefined) throw new TypeError("no kind for services");
  const own = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-09T23:59:00Z" };
  const ingress = [{ ip: "192.0.2.1" }, { hostname: "a.example" }];
  const service = {
    metadata: { name: "s", ...own },
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress } },
  };
  const table = toTable(kind, [service], { includeObject: "None", nowMs: NOW_MS });
  expect(JSON.stringify(table["rows"])).toContain('"192.0.2.1,a.example"');
});
