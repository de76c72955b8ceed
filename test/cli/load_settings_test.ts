import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadCloudSettings } from "../../lib/cli/load_settings.ts";
import { listSections } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import { requireProvider } from "../../lib/providers/mod.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-settings-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function listProblems(name: string, text: string): Promise<string[]> {
  const path = join(folder, "settings");
  await writeFile(path, text);
  const definition = await requireProvider(name);
  try {
    await loadCloudSettings({ path, env: {}, definition, sections: listSections(CONTROLLERS) });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replaceAll(path, "FILE").split("\n");
  }
}

const INI = "[Global]\napi-url = https://cs/client/api\napi-key = k\nsecret-key = s\n";
const XO = "url: https://xo\ntoken: t\nrefreshInterval: 30s\n";
const INVENTORY = "instances: []\n";

test.each([
  ["xenorchestra", INI, "external-cloudstack", "nothing else"],
  ["static", INI, "external-cloudstack", "nothing else"],
  ["external-cloudstack", XO, "xenorchestra", "every other problem"],
  ["cloudstack", XO, "xenorchestra", "every other problem"],
  ["static", "region: a\nurl: https://xo\ntoken: t\n", "xenorchestra", "every other problem"],
  ["xenorchestra", INVENTORY, "static", "nothing else"],
])("loadCloudSettings() for %s names the cloud of a file: %j", async (name, text, meant, rest) => {
  const { name: chosen } = await requireProvider(name);
  const [first, ...more] = await listProblems(name, text);
  expect(first).toBe(
    `--cloud-provider: is ${chosen}, but FILE has the settings of ${meant}; set --cloud-provider=${meant}`,
  );
  expect(more.length === 0).toBe(rest === "nothing else");
});

test.each([
  ["xenorchestra", XO],
  ["xenorchestra", "url: https://xo\ntokn: t\n"],
  ["xenorchestra", "refreshInterval: 30s\n"],
  ["xenorchestra", ""],
  ["external-cloudstack", INI.replace("api-key", "api-kee")],
  ["external-cloudstack", ""],
])("loadCloudSettings() for %s guesses nothing from %j", async (name, text) => {
  expect(await listProblems(name, text)).not.toContainEqual(
    expect.stringContaining("--cloud-provider: is"),
  );
});

test("loadCloudSettings() says that a file is not there, and guesses nothing", async () => {
  const definition = await requireProvider("xenorchestra");
  const path = join(folder, "none");
  await expect(loadCloudSettings({ path, env: {}, definition, sections: [] })).rejects.toThrow(
    /^[^\n]*Cannot read the file[^\n]*$/,
  );
});
