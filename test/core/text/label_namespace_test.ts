import { describe, expect, test } from "bun:test";
import {
  isReservedLabelKey,
  isWithin,
  OWN_PREFIX,
} from "../../../lib/core/text/label_namespace.ts";

test("the prefix of every word of Landfall's own stays what stands in clusters", () => {
  expect(OWN_PREFIX).toBe("landfall.dev/");
});

describe("isReservedLabelKey()", () => {
  test.each([
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "node-role.kubernetes.io/control-plane",
    "node-restriction.kubernetes.io/tenant",
    "example.node-restriction.kubernetes.io/tenant",
    "k8s.io/x",
    "cluster.x-k8s.io.k8s.io/x",
    "landfall.dev/x",
    "sub.landfall.dev/x",
  ])("keeps %s", (key) => expect(isReservedLabelKey(key)).toBe(true));

  test.each([
    "rack",
    "kubernetes.io",
    "example.com/rack",
    "mykubernetes.io/x",
    "kubernetes.io.example.com/x",
    "node.cluster.x-k8s.io/x",
    "notlandfall.dev/x",
    // Those that a kubelet may set, too.
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "kubelet.kubernetes.io/x",
    "team.node.kubernetes.io/x",
  ])("gives %s away", (key) => expect(isReservedLabelKey(key)).toBe(false));
});

test("isWithin() goes by whole labels of a domain", () => {
  expect(isWithin("a.example.com", ["example.com"])).toBe(true);
  expect(isWithin("example.com", ["other.com", "example.com"])).toBe(true);
  expect(isWithin("anexample.com", ["example.com"])).toBe(false);
});
