import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import {
  type CheckedSettings,
  checkSettings,
  type SettingsSources,
} from "../../../lib/cli/check/settings.ts";
import { YAML_SYNTAX } from "../../../lib/config/yaml_syntax.ts";
import { formatConfigIssue } from "../../../lib/core/errors.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";

const SECRET = "s3cr3t";
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-check-"));
  file = join(folder, "c.yaml");
});
afterEach(() => rm(folder, { recursive: true }));

async function check(
  text: string | undefined,
  more: Partial<Pick<SettingsSources, "definition" | "env" | "warnings">> & {
    readonly isThere?: boolean;
  } = {},
): Promise<CheckedSettings> {
  if (text !== undefined && more.isThere !== false) await writeFile(file, text);
  return await checkSettings({
    definition: more.definition ?? xenOrchestra,
    hasCloud: true,
    sections: [DELETION],
    settings: {
      cloudProvider: "xenorchestra",
      ...(text === undefined ? {} : { cloudConfig: file }),
    },
    warnings: more.warnings ?? [],
    env: more.env ?? {},
    signal: new AbortController().signal,
  });
}

function lines({ step }: CheckedSettings): string[] {
  expect(JSON.stringify(step)).not.toContain(SECRET);
  return step.findings.map((one) =>
    `${one.level} ${formatConfigIssue(one)}`.replaceAll(folder, "FOLDER"),
  );
}

describe("checkSettings()", () => {
  test("makes a provider of good settings", async () => {
    const found = await check(`url: https://xo\ntoken: ${SECRET}\n`, { warnings: ["odd flag"] });
    expect(lines(found)).toEqual(["ok FOLDER/c.yaml: can be used", "warning odd flag"]);
    expect(found.provider?.name).toBe("xenorchestra");
    expect(found.step).toMatchObject({ status: "warning", provider: "xenorchestra", file });
    expect(found.sections?.get("deletion")).toMatchObject({ enabled: true });
  });

  test("says which syntax was read, if there is a choice", async () => {
    const syntax = { ...YAML_SYNTAX, name: "INI", accepts: (text: string) => text.startsWith("[") };
    const definition = { ...xenOrchestra, syntax };
    const found = await check(`url: https://xo\ntoken: ${SECRET}\n`, { definition });
    expect(lines(found)).toEqual(["ok FOLDER/c.yaml: can be used, read as YAML"]);
  });

  test("names everything that is wrong with its place", async () => {
    const found = await check(`url: xo\ntoken: ${SECRET}\nrefreshInterval: soon\ninsecur: 1\n`);
    expect(found.provider).toBeUndefined();
    expect(found.step.status).toBe("failure");
    expect(lines(found)).toEqual([
      expect.stringMatching(/^failure FOLDER\/c.yaml:1:1: url: /),
      expect.stringMatching(/^failure FOLDER\/c.yaml:3:1: refreshInterval: /),
      "failure FOLDER/c.yaml:4:1: insecur: unknown key; did you mean insecure?",
    ]);
  });

  test("places what shows only when the provider is made", async () => {
    const found = await check("url: https://xo\ntokenFile: /nowhere/token\n");
    expect(lines(found)).toEqual([
      "failure FOLDER/c.yaml:2:1: tokenFile: /nowhere/token: cannot be read: there is no such file",
    ]);
  });

  test("reads the environment alone without a file", async () => {
    const env = { XOA_URL: "https://xo", XOA_TOKEN: SECRET };
    const good = await check(undefined, { env });
    expect(lines(good)).toEqual(["ok the environment: can be used"]);
    expect(good.step).not.toHaveProperty("file");
    const bad = await check(undefined, { env: { XOA_URL: "ftp://xo", XOA_TOKEN: SECRET } });
    expect(lines(bad)[0]).toMatch(/^failure XOA_URL: /);
  });

  test("says that the file is not there", async () => {
    const found = await check("", { isThere: false });
    expect(lines(found)).toEqual([
      "failure FOLDER/c.yaml: Cannot read the file: there is no such file",
    ]);
  });
});
