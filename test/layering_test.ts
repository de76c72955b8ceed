import { expect, test } from "bun:test";
import { listImports, listSources } from "./support/sources.ts";

/** Which parts of lib a part may import, and which packages: the table of ARCHITECTURE.md §3. */
interface Rule {
  readonly parts: readonly string[];
  readonly packages: readonly string[];
  /** Packages and parts of which only types may be imported. */
  readonly types?: readonly string[];
}

const CLIENT_NODE = "@kubernetes/client-node";
const PURE_NAMES =
  "plan|addresses|fleet_member|identity|instance_labels|names|node_view|out_of_service|words";
const PURE = new RegExp(`/(${PURE_NAMES})[.]ts$`);

/** Files of controllers that check an object of a kind of ours, and describe it for a CRD. */
const KIND_SCHEMAS = [
  /^controllers\/kinds\/(crd|parts)\.ts$/,
  /^controllers\/(sipcluster|vino)\/resource\/(schema\/\w+|check_spec|crd)\.ts$/,
];

const RULES: Readonly<Record<string, Rule>> = {
  core: { parts: ["core"], packages: [] },
  cloud: { parts: ["core", "cloud"], packages: [] },
  "cloud/settings/address_settings.ts": { parts: ["core", "cloud"], packages: ["valibot"] },
  "cloud/settings/schema.ts": { parts: ["core", "cloud"], packages: ["valibot"] },
  cloud_http: { parts: ["core", "cloud", "cloud_http"], packages: ["eventsource-parser"] },
  "cloud_http/decode.ts": { parts: ["core", "cloud", "cloud_http"], packages: ["valibot"] },
  kube: { parts: ["core", "kube"], packages: [], types: [CLIENT_NODE] },
  // It knows objects, and no kind of them.
  engine: {
    parts: ["core", "kube/api", "kube/cache", "kube/events", "kube/kinds/resource.ts", "engine"],
    packages: [],
  },
  config: { parts: ["core", "cloud", "config"], packages: ["valibot", "yaml"] },
  http: {
    parts: ["core", "http"],
    packages: ["hono"],
    types: ["cloud/capabilities/machine_management.ts", "cloud/capabilities/machine_power.ts"],
  },
  host: { parts: ["core", "host"], packages: [] },
  simulator: { parts: ["core", "simulator"], packages: ["hono"] },
  "providers/mod.ts": { parts: ["core", "cloud", "providers"], packages: [] },
  "controllers/mod.ts": { parts: ["core", "cloud", "kube", "engine", "controllers"], packages: [] },
};

const files = await listSources("lib");

function toRule(file: string): Rule | undefined {
  if (RULES[file]) return RULES[file];
  const [top = "", second = ""] = file.split("/");
  if (top === "providers") {
    return {
      parts: ["core", "cloud", "cloud_http", `providers/${second}`],
      packages: ["valibot"],
    };
  }
  if (top === "controllers") {
    // What all controllers share stands beside their folders, what those share that know the whole fleet in fleet/, and
    // what those share that have kinds of their own in kinds/; nobody but the door and the app knows a sibling.
    const shared = files
      .map((path) => path.slice("lib/".length))
      .filter((path) => /^controllers\/(?!mod\.ts)((fleet|kinds)\/)?[^/]+\.ts$/.test(path));
    return {
      parts: ["core", "cloud", "kube", "engine", ...shared, `controllers/${second}`],
      packages: KIND_SCHEMAS.some((one) => one.test(file))
        ? ["valibot", "@valibot/to-json-schema"]
        : [],
      types: [CLIENT_NODE],
    };
  }
  // cli, app and main may import anything.
  return top === "cli" || top === "app" ? undefined : RULES[top];
}

function startsWithPart(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`);
}

function checkImport(file: string, target: string, typeOnly: boolean): string | undefined {
  const rule = toRule(file);
  if (rule === undefined || target.startsWith("node:")) return undefined;
  const pure = PURE.test(`/${file}`) && file.startsWith("controllers/");
  if (pure && target.startsWith("lib/") && !typeOnly) {
    const path = target.slice("lib/".length);
    const folder = file.slice(0, file.lastIndexOf("/"));
    if (startsWithPart(path, "core") || startsWithPart(path, folder)) return undefined;
    if (/^(controllers|kube\/events)\//.test(path) && PURE.test(`/${path}`)) return undefined;
    return `${file} is pure and imports the values of ${target}`;
  }
  if (target.startsWith("lib/")) {
    const path = target.slice("lib/".length);
    const parts = [...rule.parts, ...(typeOnly ? (rule.types ?? []) : [])];
    if (parts.some((part) => startsWithPart(path, part))) return undefined;
    return `${file} may not import ${target}${typeOnly ? "" : " (as a value)"}`;
  }
  const packages = [...rule.packages, ...(typeOnly ? (rule.types ?? []) : [])];
  if (packages.some((name) => startsWithPart(target, name))) return undefined;
  return `${file} may not import ${target}${typeOnly ? "" : " (as a value)"}`;
}

test("every part of lib has a rule, or may import anything", () => {
  const free = files.filter((file) => toRule(file.slice("lib/".length)) === undefined);
  expect(free.filter((file) => !/^lib\/(cli|app)\//.test(file))).toEqual([]);
});

test("no file of lib imports what its layer may not know", async () => {
  const problems: string[] = [];
  for (const file of files) {
    for (const { target, typeOnly } of await listImports(file)) {
      const problem = checkImport(file.slice("lib/".length), target, typeOnly);
      if (problem) problems.push(problem);
    }
  }
  expect(problems).toEqual([]);
});

test("documents and manifests know no provider and no controller but by the registries", async () => {
  const makers = [...(await listSources("docs")), ...(await listSources("deploy"))];
  const problems: string[] = [];
  for (const file of makers) {
    for (const { target } of await listImports(file)) {
      const isByName = /^lib\/(providers\/(?!mod\.ts$)|controllers\/\w+\/)/.test(target);
      if (isByName) problems.push(`${file}: ${target}`);
    }
  }
  expect(problems).toEqual([]);
});

test("a process knows no controller but by the registry", async () => {
  const problems: string[] = [];
  for (const file of [...(await listSources("lib/app")), "lib/cli/run.ts"]) {
    for (const { target } of await listImports(file)) {
      if (/^lib\/controllers\/\w+\//.test(target)) problems.push(`${file}: ${target}`);
    }
  }
  expect(problems).toEqual([]);
});

test("the rules refuse what they should", () => {
  expect(checkImport("core/log.ts", "lib/kube/api/client.ts", true)).toBeDefined();
  expect(checkImport("engine/x.ts", "lib/cloud/provider.ts", true)).toBeDefined();
  expect(checkImport("engine/x.ts", "lib/controllers/words.ts", true)).toBeDefined();
  expect(checkImport("engine/x.ts", "lib/kube/kinds/node.ts", true)).toBeDefined();
  expect(checkImport("engine/x.ts", "lib/kube/cache/store.ts", false)).toBeUndefined();
  expect(checkImport("kube/x.ts", CLIENT_NODE, false)).toBeDefined();
  expect(checkImport("kube/x.ts", CLIENT_NODE, true)).toBeUndefined();
  expect(checkImport("controllers/node/x.ts", "lib/providers/static/mod.ts", true)).toBeDefined();
  expect(checkImport("controllers/node/x.ts", "lib/controllers/other/x.ts", true)).toBeDefined();
  expect(checkImport("controllers/node/x.ts", "lib/controllers/mod.ts", true)).toBeDefined();
  expect(checkImport("controllers/node/x.ts", "lib/controllers/words.ts", false)).toBeUndefined();
  expect(checkImport("controllers/words.ts", "lib/controllers/node/mod.ts", true)).toBeDefined();
  expect(checkImport("controllers/node/plan.ts", "lib/kube/api/client.ts", false)).toBeDefined();
  expect(
    checkImport("controllers/sipcluster/resource/schema/x.ts", "valibot", false),
  ).toBeUndefined();
  expect(
    checkImport("controllers/sipcluster/resource/sip_cluster.ts", "valibot", true),
  ).toBeDefined();
  expect(checkImport("controllers/sipcluster/reconcile.ts", "valibot", false)).toBeDefined();
  expect(checkImport("controllers/kinds/conditions.ts", "valibot", false)).toBeDefined();
  expect(
    checkImport("controllers/kinds/x.ts", "lib/controllers/sipcluster/mod.ts", true),
  ).toBeDefined();
  expect(checkImport("providers/static/x.ts", "lib/kube/api/client.ts", true)).toBeDefined();
  expect(checkImport("providers/static/x.ts", "valibot", false)).toBeUndefined();
  expect(checkImport("providers/static/x.ts", "lib/cloud_http/client.ts", false)).toBeUndefined();
  expect(checkImport("http/x.ts", "lib/cloud/provider.ts", true)).toBeDefined();
  for (const typeOnly of [true, false]) {
    const problem = checkImport("http/x.ts", "lib/cloud/capabilities/machine_power.ts", typeOnly);
    expect(problem === undefined).toBe(typeOnly);
  }
  expect(checkImport("cloud_http/x.ts", "lib/providers/static/mod.ts", true)).toBeDefined();
  expect(checkImport("cloud_http/x.ts", "lib/kube/api/client.ts", true)).toBeDefined();
  expect(checkImport("kube/x.ts", "lib/cloud_http/client.ts", true)).toBeDefined();
  expect(checkImport("cloud/x.ts", "lib/cloud_http/client.ts", true)).toBeDefined();
});

test("what is for any cloud knows the words of none", async () => {
  const words = /xen|\bxo\b|cloudstack|\bpools?\b|\btokens?\b|rest\/v0/i;
  const named: string[] = [];
  for (const file of files.filter((path) => path.startsWith("lib/cloud_http/"))) {
    const lines = (await Bun.file(file).text()).split("\n");
    named.push(...lines.filter((line) => words.test(line)).map((line) => `${file}: ${line}`));
  }
  expect(named).toEqual([]);
});

test("no two files import each other in a circle, not even their types", async () => {
  const graph = new Map<string, string[]>();
  for (const folder of ["lib", "test", "bench", "docs", "deploy", "release"]) {
    for (const file of await listSources(folder)) {
      graph.set(
        file,
        (await listImports(file)).map(({ target }) => target),
      );
    }
  }
  expect(findCycle(graph)).toEqual([]);
  graph.set("lib/core/clock.ts", ["bench/mod.ts"]);
  expect(findCycle(graph)).not.toEqual([]);
});

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
