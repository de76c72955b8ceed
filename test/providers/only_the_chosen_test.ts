/**
 * What a start loads: a cloud that is not chosen must cost nothing.
 * @module
 */
import { expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROVIDERS } from "../../lib/providers/mod.ts";
import { ROOT } from "../support/sources.ts";

/** Lists the files of the program that were loaded, when the program ends. */
const LIST_LOADED =
  'process.on("exit", () => console.error(Object.keys(require.cache).map((path) => `loaded ${path}`).join("\\n")));\n';

const CASES: readonly [provider: string, folder: string, settings: string][] = [
  ["xenorchestra", "xenorchestra", "url: http://127.0.0.1:1\ntoken: t\n"],
  ["static", "static", "instances: []\n"],
  [
    "external-cloudstack",
    "cloudstack",
    "[Global]\napi-url = http://127.0.0.1:1/client/api\napi-key = a\nsecret-key = b\n",
  ],
];

test("the table has every provider", () => {
  expect(CASES.map(([name]) => name)).toEqual(PROVIDERS.map(({ name }) => name));
});

test.each(CASES)("run with %s loads no other provider, and no simulator", async (...args) => {
  const [provider, folder, settings] = args;
  const place = await mkdtemp(join(tmpdir(), "landfall-loaded-"));
  const [preload, config] = [join(place, "preload.ts"), join(place, "settings")];
  await writeFile(preload, LIST_LOADED);
  await writeFile(config, settings);
  // It ends because there is no kubeconfig, after it has read the settings.
  const flags = [`--cloud-provider=${provider}`, `--cloud-config=${config}`];
  const command = ["--preload", preload, join(ROOT, "main.ts"), "run", ...flags];
  const { promise, resolve } = Promise.withResolvers<string>();
  const kubeconfig = `--kubeconfig=${join(place, "none")}`;
  execFile(process.execPath, [...command, kubeconfig], (_error, _stdout, stderr) =>
    resolve(stderr),
  );
  const output = await promise;
  await rm(place, { recursive: true });
  expect(output).toContain(join(place, "none"));
  const loaded = [...output.matchAll(/^loaded (.*)$/gm)].map(([, path]) => path ?? "");
  expect(loaded).toContain(join(ROOT, `lib/providers/${folder}/mod.ts`));
  const folders = loaded.flatMap(
    (path) => /lib\/(?:providers\/\w+(?=\/)|simulator)/.exec(path) ?? [],
  );
  expect([...new Set(folders)]).toEqual([`lib/providers/${folder}`]);
});
