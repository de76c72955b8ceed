import { describe, expect, test } from "bun:test";
import { checkSpec } from "../../../../lib/controllers/sipcluster/resource/check_spec.ts";
import { SIP_CLUSTER_KIND } from "../../../../lib/controllers/sipcluster/resource/crd.ts";
import { listBroken, listSchemas, listUnbounded } from "../../../support/kinds/schemas.ts";
import { RIGHT_SPECS, WRONG_SPECS } from "../../../support/sipcluster/spec_cases.ts";

const { crd, conditions } = SIP_CLUSTER_KIND;
const [VERSION] = crd.spec.versions;
const ROOT = VERSION.schema.openAPIV3Schema;
const SPEC = ROOT.properties?.["spec"] ?? ROOT;

describe("the rules of the CRD", () => {
  for (const { title, spec } of RIGHT_SPECS) {
    test(`accept ${title}`, () => {
      expect(listBroken(SPEC, spec)).toEqual([]);
    });
  }

  for (const { title, spec, problem } of WRONG_SPECS.filter((one) => one.refusedBy === "rule")) {
    test(`refuse ${title}, as checkSpec() does`, () => {
      const checked = checkSpec(spec);
      const said = checked.isValid ? [] : checked.problems.map(({ message }) => message);
      expect(listBroken(SPEC, spec)).toEqual(said);
      expect(problem).toContain(said.join());
    });
  }

  test("each refuse a spec of the table", () => {
    const rules = listSchemas(SPEC).flatMap(([, one]) => one["x-kubernetes-validations"] ?? []);
    const refused = new Set(
      WRONG_SPECS.filter((one) => one.refusedBy === "rule").flatMap(({ spec }) =>
        listBroken(SPEC, spec),
      ),
    );
    expect(rules.length).toBe(15);
    expect(rules.map(({ message }) => message).filter((one) => !refused.has(one))).toEqual([]);
  });

  test("have a bounded cost: everything that they can go through has a largest size", () => {
    expect(listUnbounded(SPEC)).toEqual([]);
  });
});

describe("the CRD", () => {
  test("has the names of the original operator, and a short one", () => {
    expect(crd.metadata.name).toBe("sipclusters.airship.airshipit.org");
    expect(crd.spec).toMatchObject({
      group: "airship.airshipit.org",
      scope: "Namespaced",
      names: {
        kind: "SIPCluster",
        listKind: "SIPClusterList",
        plural: "sipclusters",
        singular: "sipcluster",
        shortNames: ["sip"],
      },
      versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} } }],
    });
  });

  test("shows at a glance what a cluster has", () => {
    expect(VERSION.additionalPrinterColumns.map(({ name }) => name)).toEqual([
      "Ready",
      "Reason",
      "CP",
      "Workers",
      "Age",
    ]);
  });

  test("describes every field", () => {
    const mute = listSchemas(ROOT).filter(
      ([path, one]) => !/(\[\]|\.\*|^)$/.test(path) && one.description === undefined,
    );
    expect(mute.map(([path]) => path)).toEqual([]);
  });

  test("has the fields of the original operator, with their types", () => {
    const types = new Map(listSchemas(ROOT).map(([path, { type }]) => [path, type]));
    const service = (list: string, fields: Readonly<Record<string, string>>) =>
      Object.entries(fields).map(([key, type]) => [`.spec.services.${list}[].${key}`, type]);
    const common = {
      image: "string",
      nodeInterfaceId: "string",
      "nodeLabels.*": "string",
      clusterIP: "string",
    };
    const expected = [
      [".spec.nodes.*.labelSelector.matchLabels.*", "string"],
      [".spec.nodes.*.labelSelector.matchExpressions[].values[]", "string"],
      [".spec.nodes.*.topologyKey", "string"],
      [".spec.nodes.*.count.active", "integer"],
      [".spec.nodes.*.count.standby", "integer"],
      ...service("loadBalancerControlPlane", { ...common, nodePort: "integer" }),
      ...service("loadBalancerWorker", {
        ...common,
        nodePort: "integer",
        "nodePortRange.start": "integer",
        "nodePortRange.end": "integer",
      }),
      ...service("jumpHost", {
        ...common,
        nodePort: "integer",
        nodeSSHPrivateKeys: "string",
        "sshAuthorizedKeys[]": "string",
        "bmc.proxy": "boolean",
      }),
      ...service("auth", { ...common, nodePort: "integer", caSecret: "string" }),
      [".status.conditions[].lastTransitionTime", "string"],
      [".status.conditions[].observedGeneration", "integer"],
    ];
    expect(expected.filter(([path = "", type]) => types.get(path) !== type)).toEqual([]);
  });

  test("sets defaults", () => {
    const defaults = listSchemas(ROOT).filter(([, one]) => one.default !== undefined);
    expect(Object.fromEntries(defaults.map(([path, one]) => [path, one.default]))).toEqual({
      ".spec.nodes.*.count.active": 0,
      ".spec.nodes.*.count.standby": 0,
      ".spec.services.auth[].clientID": "kubernetes",
      ".spec.services.jumpHost[].bmc.proxy": false,
      ".spec.scheduling.spreadAcrossRoles": false,
      ".spec.scheduling.releaseConsumedHosts": false,
    });
  });
});

test("the kind names each condition with all its reasons", () => {
  const lines = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  expect(lines).toContain("Ready=True ReconciliationSucceeded");
  expect(lines).toContain("ContractionBlocked=False NothingBlocked");
  expect(new Set(lines).size).toBe(lines.length);
});
