/**
 * The reference pages against the program.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listOutdatedPages } from "../docs/generate.ts";
import { renderConfigPage } from "../docs/generator/config_page.ts";
import { renderEventsPage } from "../docs/generator/events_page.ts";
import { toTable } from "../docs/generator/markdown.ts";
import { renderPages } from "../docs/generator/pages.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { CONTROLLER_NAMES } from "../lib/cli/flags/controllers.ts";
import { FLAGS } from "../lib/cli/flags/table.ts";
import { YAML_SYNTAX } from "../lib/config/yaml_syntax.ts";
import { DELETION } from "../lib/cloud/settings/sections.ts";
import { loadProviders } from "../lib/providers/mod.ts";
import { exampleProvider } from "./support/cloud/example_provider.ts";
import { listSources, readSource } from "./support/sources.ts";

describe("docs/reference", () => {
  test("docs/reference is up to date; else run npm run docs", async () => {
    expect(await listOutdatedPages()).toEqual([]);
  });

  test("docs/reference/flags.md has every flag", () => {
    const page = renderPages().get("flags.md") ?? "";
    expect(FLAGS.filter(({ name }) => !page.includes(`\`--${name}`))).toEqual([]);
  });

  test("docs/reference/config.md has every setting of every cloud and of each provider", async () => {
    const page = renderPages().get("config.md") ?? "";
    const settings = [
      DELETION.settings,
      ...(await loadProviders()).map((one) => one.settings),
    ].flat();
    expect(settings.length).toBeGreaterThan(30);
    expect(settings.filter(({ path }) => !page.includes(`| \`${path}\` `))).toEqual([]);
  });

  test("docs/reference/config.md says the syntax of each cloud where they differ", () => {
    const cloud = { name: "a", docs: exampleProvider.docs, settings: [] };
    const syntax = { ...YAML_SYNTAX, name: "JSON" };
    const alone = renderConfigPage([cloud], []);
    expect(alone).toContain("\nA YAML file, named");
    expect(alone).not.toContain("A YAML file.");
    const page = renderConfigPage([cloud, { ...cloud, name: "b", syntax }], []);
    expect(page).toContain("\nA YAML or JSON file, named");
    expect(page).toMatch(
      /`--cloud-provider=a`, the default\)\n\nA YAML file\.\n[^]*=b`\)\n\nA JSON file\.\n/,
    );
  });

  test("docs/reference/events.md has every reason in the words of the controllers", async () => {
    const page = renderPages().get("events.md") ?? "";
    const reasons: string[] = [];
    for (const file of await listSources("lib/controllers")) {
      const found = (await readSource(file)).matchAll(/reason: "([A-Z]\w+)"/g);
      reasons.push(...[...found].map(([, reason = ""]) => reason));
    }
    expect(reasons.length).toBeGreaterThan(10);
    expect(reasons.filter((reason) => !page.includes(`| \`${reason}\` `))).toEqual([]);
  });

  test("docs/reference/events.md names controllers as --controllers does", () => {
    const page = renderPages().get("events.md") ?? "";
    const available = CONTROLLER_NAMES.filter(({ isAvailable }) => isAvailable);
    const titles = [...page.matchAll(/^## `([^`]+)`$/gm)].map(([, title]) => title);
    expect(titles.toSorted()).toEqual(available.map(({ name }) => name).toSorted());
    for (const { component } of CONTROLLERS)
      expect(page).toMatch(new RegExp(`as \`${component}\`[ .]`));
  });

  test("docs/reference/metrics.md has every metric that lib registers", async () => {
    const page = renderPages().get("metrics.md") ?? "";
    const names: string[] = [];
    for (const file of await listSources("lib")) {
      const text = await readSource(file);
      const found = text.matchAll(/\.(?:counter|gauge|histogram)\(\{\s*name: "(\w+)"/g);
      names.push(...[...found].map(([, name = ""]) => name));
    }
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

test("renderEventsPage() lists the Events of each controller in their order", () => {
  const page = renderEventsPage([
    {
      controller: "x",
      component: "x-controller",
      events: {
        second: { reason: "Zeta", type: "Warning", meaning: "It went | wrong." },
        first: { reason: "Alpha", type: "Normal", meaning: "It went well." },
      },
    },
    { controller: "y", component: "y-controller", events: {} },
  ]);
  expect(page.slice(page.indexOf("## "))).toBe(`## \`x\`

Written as \`x-controller\`.

| reason  | type    | meaning           |
| ------- | ------- | ----------------- |
| \`Zeta\`  | Warning | It went \\| wrong. |
| \`Alpha\` | Normal  | It went well.     |

## \`y\`

Written as \`y-controller\`.

| reason | type | meaning |
| ------ | ---- | ------- |
`);
});

test("toTable() keeps a cell in its cell", () => {
  expect(toTable(["a"], [["x | y\n z"]])).toBe("| a        |\n| -------- |\n| x \\| y z |\n");
});
