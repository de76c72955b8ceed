import { describe, expect, test } from "bun:test";
import {
  toClusterLabel,
  toLabels,
  toObjectName,
} from "../../../../lib/controllers/sipcluster/services/names.ts";
import { isLabelValue } from "../../../../lib/core/text/label.ts";

const LONG = "a".repeat(60);

describe("toObjectName()", () => {
  const cases: readonly (readonly [cluster: string, index: number, name: string])[] = [
    ["acme", 0, "jumphost-acme"],
    ["acme", 1, "jumphost-acme-2"],
    ["acme", 2, "jumphost-acme-3"],
    ["a".repeat(54), 0, `jumphost-${"a".repeat(54)}`],
    [LONG, 0, `jumphost-${"a".repeat(45)}-HASH`],
    ["acme.west", 0, "jumphost-acme-west-HASH"],
  ];
  for (const [cluster, index, name] of cases) {
    test(`names entry ${index} of "${cluster}"`, () => {
      const given = toObjectName("jumphost", cluster, index);
      expect(given.replace(/-[0-9a-f]{8}$/, "-HASH")).toBe(name);
    });
  }

  test("gives names that a Service may have, and different ones for different clusters", () => {
    const clusters = [LONG, `${LONG}b`, "a.b", "a-b", "a.b.c", `${"x".repeat(53)}.y`, "a..b"];
    const names = clusters.flatMap((one) => [0, 1].map((at) => toObjectName("jumphost", one, at)));
    for (const name of names) expect(name).toMatch(/^(?=.{1,63}$)[a-z]([-a-z0-9]*[a-z0-9])?$/);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("toLabels()", () => {
  test("are those of the original operator", () => {
    const options = {
      component: "loadbalancer",
      app: "haproxy",
      instance: "loadbalancer-worker-acme",
    };
    expect(toLabels(options)).toEqual({
      "app.kubernetes.io/part-of": "sip",
      "app.kubernetes.io/component": "loadbalancer",
      "app.kubernetes.io/name": "haproxy",
      "app.kubernetes.io/instance": "loadbalancer-worker-acme",
    });
  });
});

describe("toClusterLabel()", () => {
  test("is the name of the cluster, shortened if a label cannot hold it", () => {
    expect(toClusterLabel("acme.west")).toBe("acme.west");
    const long = [`${LONG}.west-one`, `${LONG}.west-two`].map(toClusterLabel);
    for (const value of long) expect(isLabelValue(value)).toBe(true);
    expect(long[0]).not.toBe(long[1]);
  });
});
