import { expect, test } from "bun:test";
import { readRoles, toDemands } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";

const FORM = { template: "debian", cpus: 2, memory: "4Gi" } as const;

test("readRoles() reads each role with its form", () => {
  const spec: VinoSpec = {
    nodes: [
      { name: "master", count: 1, xenOrchestra: { cpus: 8 } },
      { name: "worker", count: 3 },
    ],
    xenOrchestra: { ...FORM, countPer: "Total", hosts: { tags: ["vino"] } },
  };
  const read = readRoles(spec);
  if (!read.isComplete) throw new Error("the form is complete");
  expect([...read.roles].map(([name, { form }]) => `${name} ${form.cpus}`)).toEqual([
    "master 8",
    "worker 2",
  ]);
  expect(toDemands(read.roles)).toEqual([
    { role: "master", count: 1, countPer: "Total", hosts: { tags: ["vino"] } },
    { role: "worker", count: 3, countPer: "Total", hosts: { tags: ["vino"] } },
  ]);
});

test("readRoles() names what is missing, but not of a role that wants no machine", () => {
  const spec: VinoSpec = {
    nodes: [{ name: "a", count: 1 }, { name: "b" }],
    xenOrchestra: { cpus: 1 },
  };
  const read = readRoles(spec);
  if (read.isComplete) throw new Error("the form is not complete");
  expect(read.missing.map(({ path }) => path)).toEqual([
    "spec.nodes[0].xenOrchestra.template",
    "spec.nodes[0].xenOrchestra.memory",
  ]);
  expect(readRoles({ nodes: [{ name: "b", count: 0 }] })).toEqual({
    isComplete: true,
    roles: new Map(),
  });
});
