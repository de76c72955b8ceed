import { expect, test } from "bun:test";
import { countWrites, formatFigures } from "../../../lib/cli/demo/figures.ts";
import { RequestLog, type RequestFacts } from "../../../lib/simulator/kubernetes/requests/log.ts";

const CLOUD = {
  title: "Xen Orchestra",
  figures: {
    lists: new Set(["GET /vms", "GET /hosts", "GET /pools"]),
    cost: "3 requests for any number of Nodes",
    predecessor: "The Go controller",
    requestsPerNode: 3,
  },
};

test("formatFigures() is an aligned page that adds up", () => {
  const page = formatFigures({
    cloud: CLOUD,
    cloudRequests: new Map([
      ["GET /vms", 10],
      ["GET /hosts", 10],
      ["GET /pools", 10],
      ["GET /vms/{id}", 2],
    ]),
    passes: 10,
    writes: new Map([
      ["patch nodes", 4],
      ["create events", 3],
      ["delete nodes", 1],
    ]),
    nodes: 4,
    durationMs: 12_345,
  });
  expect(page).toBe(`\
Figures: 4 Nodes, 1 of them deleted, 12.3 seconds

  Requests to Xen Orchestra
    GET /hosts     10
    GET /pools     10
    GET /vms       10
    GET /vms/{id}   2
    in total       32   30 for 10 inventories and changes, 2 for others

  Writes to Kubernetes
    create events   3
    delete nodes    1
    patch nodes     4
    in total        8

An inventory takes 3 requests for any number of Nodes. By default, Landfall takes one every 30s.
The Go controller makes 3 requests for each Node in a pass: 10 passes over 4 Nodes would be 120.`);
});

test("formatFigures() says that no Node was deleted when none was", () => {
  const none = new Map<string, number>();
  const page = formatFigures({
    cloud: CLOUD,
    cloudRequests: none,
    passes: 0,
    writes: none,
    nodes: 0,
    durationMs: 0,
  });
  expect(page).toStartWith("Figures: 0 Nodes, 0 of them deleted, 0.0 seconds");
});

test("countWrites() counts what Landfall wrote, not what it read nor what others wrote", () => {
  const log = new RequestLog();
  const add = (verb: string, resource: string, userAgent: string = "landfall/1 (x/y)"): void => {
    const request: RequestFacts = {
      method: "",
      path: "",
      query: "",
      name: "",
      contentType: "",
      verb,
      resource,
      userAgent,
    };
    log.add(request);
  };
  add("patch", "nodes");
  add("patch", "nodes");
  add("patch", "nodes/status");
  add("list", "nodes");
  add("watch", "nodes");
  add("create", "");
  add("delete", "nodes", "kubectl/v1.35.0");
  expect([...countWrites(log)]).toEqual([
    ["patch nodes", 2],
    ["patch nodes/status", 1],
  ]);
});
