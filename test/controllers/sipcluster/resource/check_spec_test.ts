import { describe, expect, test } from "bun:test";
import {
  checkCluster,
  checkSpec,
} from "../../../../lib/controllers/sipcluster/resource/check_spec.ts";
import type { SipClusterSpec } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { describeProblems } from "../../../../lib/controllers/kinds/problems.ts";
import { RIGHT_SPECS, WRONG_SPECS } from "../../../support/sipcluster/spec_cases.ts";

describe("checkSpec() accepts", () => {
  for (const { title, spec } of RIGHT_SPECS) {
    test(title, () => {
      const checked: unknown = checkSpec(spec);
      expect(checked).toEqual({ isValid: true, spec });
    });
  }
});

describe("checkSpec() refuses", () => {
  for (const { title, spec, problem } of WRONG_SPECS) {
    test(title, () => {
      const checked = checkSpec(spec);
      expect(checked.isValid ? "no problem" : describeProblems(checked.problems)).toBe(problem);
    });
  }
});

test("checkSpec() says everything that is wrong at once", () => {
  const checked = checkSpec({
    nodes: { Worker: { count: { active: -1 } } },
    services: { jumpHost: [{}] },
  });
  expect(checked.isValid ? [] : checked.problems.map(({ path }) => path)).toEqual([
    "spec.nodes.Worker.count.active",
    "spec.services.jumpHost[0].image",
    "spec.services.jumpHost[0].nodeInterfaceId",
    "spec.services.jumpHost[0].nodePort",
    "spec.services.jumpHost[0].nodeSSHPrivateKeys",
  ]);
});

test("checkSpec() leaves out fields that the schema does not have", () => {
  const checked: unknown = checkSpec({ services: { authPod: [] }, clusterName: "x" });
  expect(checked).toEqual({ isValid: true, spec: { services: {} } });
});

test("checkCluster() refuses a name that cannot be the value of a label, beside problems of the spec", () => {
  const check = (name: string, spec: SipClusterSpec): unknown =>
    checkCluster({ metadata: { name, namespace: "t" }, spec });
  expect(check("a".repeat(63), { services: {} })).toMatchObject({ isValid: true });
  const nodes = { Worker: { count: { active: -1 } } };
  expect(check("a".repeat(64), { services: {}, nodes })).toMatchObject({
    isValid: false,
    problems: [{ path: "metadata.name" }, { path: "spec.nodes.Worker.count.active" }],
  });
});
