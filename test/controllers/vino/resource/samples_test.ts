import { expect, test } from "bun:test";
import { checkPoolSpec, checkSpec } from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { IP_POOL_KIND, VINO_KIND } from "../../../../lib/controllers/vino/resource/crd.ts";
import { toRoleForm } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { KindDefinition } from "../../../../lib/controllers/definition.ts";
import { listBroken, listPaths, listSchemas } from "../../../support/kinds/schemas.ts";
import { VINO_SAMPLES } from "../../../support/kinds/samples.ts";

const objects = (await Promise.all(VINO_SAMPLES.names.map(VINO_SAMPLES.read))).flat();
const vinos = objects.filter(({ kind }) => kind === "Vino");
const pools = objects.filter(({ kind }) => kind === "IPPool");

function toSpecSchema({ crd }: KindDefinition) {
  const root = crd.spec.versions[0].schema.openAPIV3Schema;
  return root.properties?.["spec"] ?? root;
}

test("the samples are right, and nothing of them is left out", () => {
  expect([vinos.length, pools.length]).toEqual([5, 2]);
  for (const { spec } of vinos) {
    const checked: unknown = checkSpec(spec);
    expect(checked).toEqual({ isValid: true, spec });
    expect(listBroken(toSpecSchema(VINO_KIND), spec)).toEqual([]);
  }
  for (const { spec } of pools) {
    const checked: unknown = checkPoolSpec(spec);
    expect(checked).toEqual({ isValid: true, spec });
  }
});

test.each([
  [VINO_KIND, vinos],
  [IP_POOL_KIND, pools],
])("the samples have every field that a spec may have", (kind, samples) => {
  const schema = toSpecSchema(kind);
  const used = new Set(samples.flatMap(({ spec }) => listPaths(schema, spec)));
  expect([...new Set(listPaths(schema))].filter((path) => !used.has(path))).toEqual([]);
});

test("the samples have every word that a field may have", () => {
  const texts = new Set(JSON.stringify(vinos).match(/"(?:[^"\\]|\\.)*"/g));
  const words = listSchemas(toSpecSchema(VINO_KIND)).flatMap(([, one]) => one.enum ?? []);
  expect(words.length).toBeGreaterThan(0);
  expect(words.filter((word) => !texts.has(JSON.stringify(word)))).toEqual([]);
});

test("the sample of a tenant says what each role's machines are like", () => {
  const tenant = vinos.find(({ metadata }) => metadata.name === "wordpress");
  const checked = checkSpec(tenant?.spec);
  const forms = checked.isValid ? [0, 1].map((at) => toRoleForm(checked.spec, at)) : [];
  expect(forms).toMatchObject([
    { isComplete: true, form: { cpus: 4, countPer: "Total" } },
    { isComplete: true, form: { cpus: 8, countPer: "Host", memoryBytes: 32 * 2 ** 30 } },
  ]);
});
