/**
 * What a process costs that does not run the controller: none of its code is loaded, and no right of it is asked for.
 * @module
 */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST_CLOUDS } from "../../../deploy/clouds.ts";
import { renderFiles } from "../../../deploy/files.ts";
import { LEASE, toCloudPolicy } from "../../../deploy/names.ts";
import { listFurtherRights, needAll } from "../../../lib/app/rights.ts";
import { listOnByDefault } from "../../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { until } from "../../support/nodes/rig.ts";
import { startDemoServers } from "../../support/process/demo_servers.ts";
import { startLandfall } from "../../support/process/landfall_process.ts";
import { ROOT } from "../../support/sources.ts";

/** What the registry needs to know, for flags, pages and rights. */
const OF_THE_REGISTRY = [
  "lib/controllers/vino/definition.ts",
  "lib/controllers/vino/flags.ts",
  "lib/controllers/vino/hosts/word_table.ts",
  "lib/controllers/vino/hosts/words.ts",
  "lib/controllers/vino/metrics.ts",
  "lib/controllers/vino/redfish/flags.ts",
  "lib/controllers/vino/redfish/words.ts",
  "lib/controllers/vino/resource/ip_pool.ts",
  "lib/controllers/vino/resource/vino.ts",
  "lib/controllers/vino/rights.ts",
  "lib/controllers/vino/words.ts",
];
const NAME = "vino";
/** Of kinds that only this controller and sipcluster have. */
const KINDS = /vino|ippool|sipcluster|baremetalhost/i;

/** Lists the files of the program that were loaded, when the program ends. */
const LIST_LOADED = `process.on("exit", () => console.error(Object.keys(require.cache)
  .map((path) => "loaded " + path).join("\\n")));\n`;

test("a process without it loads none of its code, and asks Kubernetes for none of its objects", async () => {
  const { cloud, kubernetes, folder, kubeconfig, stop } = await startDemoServers();
  const nodes = Array.from(createDemoWorld().machines.keys());
  const [preload, settings] = [join(folder, "preload.ts"), join(folder, "settings.yaml")];
  await writeFile(preload, LIST_LOADED);
  await writeFile(settings, `url: ${cloud.url}\ntoken: ${cloud.token}\n`);
  const command = [process.execPath, "--preload", preload, join(ROOT, "main.ts")];
  const landfall = startLandfall({ name: "source", command }, [
    `--cloud-config=${settings}`,
    `--kubeconfig=${kubeconfig}`,
    "--controllers=*",
    "--secure-port=0",
    "--debug-address=127.0.0.1:0",
  ]);
  const [name = ""] = nodes;
  const spec = (): string => JSON.stringify(kubernetes.objects.getNode(name)?.["spec"]);
  await until("a Node is initialised", () => spec().includes("xenorchestra://"), 15_000);
  const { code, stderr } = await landfall.stop();
  const asked = kubernetes.requests.entries.map(({ resource }) => String(resource));
  await stop();
  expect(code).toBe(0);
  expect(asked).toContain("nodes");
  expect(asked.filter((resource) => KINDS.test(resource))).toEqual([]);
  const loaded = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, path = ""]) =>
    path.replace(`${ROOT}/`, ""),
  );
  expect(loaded).toContain("lib/controllers/node/mod.ts");
  const own = loaded.filter((path) => path.startsWith("lib/controllers/vino/"));
  expect(own.sort()).toEqual(OF_THE_REGISTRY);
  const making = loaded.filter((path) => path.startsWith("lib/providers/xenorchestra/machines/"));
  expect(making).toEqual([]);
}, 30_000);

test("* does not choose it, and no manifest of a cloud starts it or grants its rights", () => {
  expect(listOnByDefault(CONTROLLERS).map(({ name }) => name)).not.toContain(NAME);
  const further = listFurtherRights(needAll(LEASE), NAME).map(({ access }) => access.resource);
  expect(further).toEqual(expect.arrayContaining(["vinoes", "ippools", "secrets"]));
  for (const cloud of MANIFEST_CLOUDS) {
    expect(JSON.stringify(toCloudPolicy(cloud).clusterRules)).not.toMatch(KINDS);
    expect(JSON.stringify(toCloudPolicy(cloud).clusterRules)).not.toContain("secrets");
  }
  const files = [...renderFiles()].filter(([path]) =>
    /^(manifests\/(?!vino\/|sipcluster\/)|static-pod\/)/.test(path),
  );
  expect(files.length).toBeGreaterThan(8);
  for (const [path, text] of files) expect(text, path).not.toMatch(KINDS);
});

test("the chart has its rights only behind a condition that names it", () => {
  const rules = renderFiles().get("chart/templates/_rules.tpl") ?? "";
  const blocks = rules.split("{{- if ").filter((block) => /vinoes|landfall-vino\]/.test(block));
  expect(blocks.length).toBe(2);
  for (const block of blocks) expect(block).toStartWith(`or (has "${NAME}" `);
});
