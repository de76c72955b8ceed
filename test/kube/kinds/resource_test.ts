/**
 * Where objects live.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import {
  type KubeObject,
  type ObjectPath,
  type Resource,
  toPath,
} from "../../../lib/kube/kinds/resource.ts";

describe("toPath()", () => {
  const CASES: [Resource<KubeObject>, ObjectPath | undefined, string][] = [
    [NODES, undefined, "/api/v1/nodes"],
    [NODES, { name: "a" }, "/api/v1/nodes/a"],
    [NODES, { name: "a", subresource: "status" }, "/api/v1/nodes/a/status"],
    [NODES, { name: "a/../b?c#d e" }, "/api/v1/nodes/a%2F..%2Fb%3Fc%23d%20e"],
    [EVENTS, {}, "/api/v1/events"],
    [EVENTS, { namespace: "default" }, "/api/v1/namespaces/default/events"],
    [
      LEASES,
      { namespace: "kube-system", name: "x" },
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
    ],
  ];
  test.each(CASES)(
    "gives the path of an object or a collection, case %#",
    (resource, path, expected) => {
      expect(toPath(resource, path)).toBe(expected);
    },
  );
});
