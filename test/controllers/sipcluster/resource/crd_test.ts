import { describe, expect, test } from "bun:test";
import { evaluate } from "@marcbachmann/cel-js";
import type { OpenApiSchema } from "../../../../lib/kube/kinds/crd.ts";
import { checkSpec } from "../../../../lib/controllers/sipcluster/resource/check_spec.ts";
import { SIP_CLUSTER_KIND } from "../../../../lib/controllers/sipcluster/resource/crd.ts";
import { RIGHT_SPECS, WRONG_SPECS } from "../../../support/sipcluster/spec_cases.ts";

const { crd, conditions } = SIP_CLUSTER_KIND;
const [VERSION] = crd.spec.versions;
const ROOT = VERSION.schema.openAPIV3Schema;
const SPEC = ROOT.properties?.["spec"] ?? ROOT;

/** Messages of the rules that a value breaks, as an API server since 1.25 finds them. */
function listBroken(schema: OpenApiSchema, value: unknown): string[] {
  const own = (schema["x-kubernetes-validations"] ?? [])
    .filter(({ rule }) => evaluate(rule, { self: toCel(value) }) !== true)
    .map(({ message }) => message);
  return [...own, ...listParts(schema, value).flatMap(([part, one]) => listBroken(part, one))];
}

function listParts(schema: OpenApiSchema, value: unknown): [OpenApiSchema, unknown][] {
  const { items, additionalProperties, properties = {} } = schema;
  if (Array.isArray(value)) return items === undefined ? [] : value.map((one) => [items, one]);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]): [OpenApiSchema, unknown][] => {
    const part = properties[key] ?? additionalProperties;
    return part === undefined ? [] : [[part, one]];
  });
}

/** CEL tells whole numbers from others; a field of an API server with such a type is one. */
function toCel(value: unknown): unknown {
  if (typeof value === "number") return BigInt(value);
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toCel(one)]));
}

function listSchemas(schema: OpenApiSchema, path = ""): [string, OpenApiSchema][] {
  const { items, additionalProperties, properties = {} } = schema;
  return [
    [path, schema],
    ...Object.entries(properties).flatMap(([key, one]) => listSchemas(one, `${path}.${key}`)),
    ...(items ? listSchemas(items, `${path}[]`) : []),
    ...(additionalProperties ? listSchemas(additionalProperties, `${path}.*`) : []),
  ];
}

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
    const unbounded = listSchemas(SPEC).filter(
      ([, one]) =>
        (one.type === "array" && one.maxItems === undefined) ||
        (one.additionalProperties !== undefined && !("maxProperties" in one)) ||
        (one.type === "string" && one.enum === undefined && !("maxLength" in one)),
    );
    expect(unbounded.map(([path]) => path)).toEqual([]);
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
