/**
 * A controller and a cloud that are added by a line each to a registry: described, checked, run, and without a trace
 * when they are not chosen.
 * @module
 */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toConfigRules } from "../../deploy/values/config_schema.ts";
import { renderRules } from "../../deploy/rules.ts";
import { renderPages } from "../../docs/generator/pages.ts";
import { ALL } from "../../docs/generator/registries.ts";
import { listFurtherRights, listRights, needAll, toPolicy } from "../../lib/app/rights.ts";
import type { CheckReport } from "../../lib/cli/check/report.ts";
import { listControllerNames, selectControllers } from "../../lib/cli/flags/controllers.ts";
import { formatCommandHelp } from "../../lib/cli/command_help.ts";
import { findCommand } from "../../lib/cli/commands.ts";
import { main } from "../../lib/cli/main.ts";
import { listInstalled, listSections } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { PROVIDERS } from "../../lib/providers/mod.ts";
import { EXAMPLE } from "../support/cloud/example_provider.ts";
import { GALLERIES, NAME } from "../support/galleries/gallery.ts";
import {
  galleryController,
  LISTENER_NAME,
  TWIN_NAME,
  twinController,
} from "../support/galleries/definition.ts";
import { describeGalleries, PROGRAM } from "../support/galleries/scenario.ts";
import { toRegistration } from "../support/nodes/nodes.ts";
import { until } from "../support/nodes/rig.ts";
import { startBareServer } from "../support/process/bare_server.ts";
import { startLandfall } from "../support/process/landfall_process.ts";
import { findFreePort } from "../support/process/server_process.ts";
import { ROOT } from "../support/sources.ts";

const REGISTRY = [...listInstalled(CONTROLLERS), galleryController, twinController];
const LEASE = { namespace: "kube-system", name: "l" } as const;

describeGalleries("a simulated API server", async () => {
  const { kubernetes, kubeconfig, stop } = await startBareServer();
  return {
    kubeconfig,
    fetch: (path, init) => fetch(kubernetes.url + path, init),
    install: async () => kubernetes.installKind(GALLERIES),
    stop: async () => {
      // Nothing of Nodes, not even a watch.
      expect(kubernetes.requests.entries.filter(({ resource }) => resource === "nodes")).toEqual(
        [],
      );
      await stop();
    },
  };
});

test("one that is not chosen leaves no trace, whatever cloud is chosen", async () => {
  const { kubernetes, folder, kubeconfig, stop } = await startBareServer();
  kubernetes.installKind(GALLERIES);
  kubernetes.objects.createNode(toRegistration("one"));
  const cloudConfig = join(folder, "cloud.yaml");
  await writeFile(cloudConfig, "machines: [one]\n");
  const port = await findFreePort();
  const landfall = startLandfall(PROGRAM, [
    "--controllers=cloud-node",
    "--cloud-provider=example",
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    `--debug-address=127.0.0.1:${port}`,
    "--secure-port=0",
  ]);
  const spec = (): string => JSON.stringify(kubernetes.objects.getNode("one")?.["spec"]);
  await until("the Node is initialised", () => spec().includes("example://one"), 15_000);
  const read = async (path: string): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await read("/metrics")).not.toContain("galler");
  expect(await read("/metrics")).not.toContain("example_catalogues");
  expect(await read("/")).not.toContain("galleries");
  expect(await read("/readyz?verbose")).not.toContain("galleries");
  const asked = kubernetes.requests.entries.map(({ resource }) => resource);
  expect(asked).not.toContain("galleries");
  expect(asked).not.toContain("configmaps");
  expect((await landfall.stop()).code).toBe(0);
  await stop();
}, 30_000);

test.each(["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle", NAME])(
  "a run with %s loads no other controller",
  async (name) => {
    const code = `
      await import("${ROOT}/lib/cli/run.ts");
      const { CONTROLLERS } = await import("${ROOT}/lib/controllers/mod.ts");
      const { galleryController } = await import("${ROOT}/test/support/galleries/definition.ts");
      const { loadControllers } = await import("${ROOT}/lib/controllers/definition.ts");
      const registry = [...CONTROLLERS, galleryController];
      await loadControllers(registry.filter((one) => one.name === "${name}"));
      console.log(Object.keys(require.cache).join("\\n"));`;
    await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
    const loaded = (await child.stdout.text()).split("\n");
    const modules = loaded
      .map((path) => /(?:lib\/controllers|test\/support)\/(\w+)\/mod\.ts$/.exec(path)?.[1])
      .filter((room) => room !== undefined);
    const rooms: Readonly<Record<string, string>> = {
      "cloud-node": "node",
      "cloud-node-label-sync": "node_labels",
      "cloud-node-lifecycle": "node_lifecycle",
      [NAME]: "galleries",
    };
    expect(modules).toEqual([rooms[name] ?? ""]);
  },
);

test("the reference pages report it: Events, flags, words, metrics and rights", async () => {
  const modules = [...ALL.modules, await galleryController.load()];
  const pages = renderPages({ ...ALL, controllers: REGISTRY, modules });
  expect(pages.get("events.md")).toContain("## `example-gallery`");
  expect(pages.get("events.md")).toContain("| `GalleryCatalogued` ");
  expect(pages.get("flags.md")).toContain("| `--concurrent-gallery-syncs` ");
  expect(pages.get("flags.md")).toContain("| `example-gallery-controller` ");
  expect(pages.get("labels.md")).toContain("| `example.org/catalogue` ");
  expect(pages.get("metrics.md")).toContain("| `example_catalogues_written_total` ");
  expect(pages.get("permissions.md")).toContain("`galleries.example.org`");
  for (const text of renderPages().values()) expect(text).not.toMatch(/galler|catalogue/i);
});

test("its rights are in the roles of a registry that has it, and in no others", () => {
  const { clusterRules } = toPolicy(listRights(needAll(LEASE, REGISTRY)));
  expect(clusterRules).toContainEqual({
    apiGroups: ["example.org"],
    resources: ["galleries"],
    verbs: ["list", "watch", "patch"],
  });
  expect(JSON.stringify(toPolicy(listRights(needAll(LEASE))))).not.toContain("galleries");
});

test("its section of the settings file is described, and taken by the chart", () => {
  const page = renderPages({ ...ALL, controllers: REGISTRY }).get("config.md") ?? "";
  expect(page).toContain("## Settings of `example-gallery`\n\nHow it writes catalogues.\n\n| key ");
  expect(page).toContain("| `galleries.separator` ");
  expect(page.match(/^## Settings of/gm)).toHaveLength(2);
  const settings = listSections(REGISTRY).flatMap((one) => one.settings);
  const rules = JSON.stringify(toConfigRules([{ name: "some", settings: [] }], settings));
  for (const key of ["deletion", "holdOff", "galleries", "separator"])
    expect(rules).toContain(`"${key}":`);
});

const SECRET = "s3cr3t";
const XO = `url: https://xo.example.com\ntoken: ${SECRET}\n`;

test.each<[string, string, string]>([
  [NAME, `${XO}galleries: { separator: 7 }`, "config.yaml:3:14: galleries.separator: must be text"],
  [NAME, `${XO}gallerys: { separator: x }`, "3:1: gallerys: unknown key; did you mean galleries?"],
  [NAME, `${XO}galleries: { most: 2, seperator: x }`, "galleries.seperator: unknown key; did you"],
  [
    "cloud-node",
    `${XO}galleries: { most: 0 }`,
    "3:14: galleries.most: must be a whole number from",
  ],
])("a run of %s refuses a wrong section of its file: %j", async (controllers, text, problem) => {
  const { folder, kubeconfig, stop } = await startBareServer();
  const file = join(folder, "config.yaml");
  await writeFile(file, text);
  const flags = [
    `--controllers=${controllers}`,
    `--cloud-config=${file}`,
    `--kubeconfig=${kubeconfig}`,
  ];
  const complaints: string[] = [];
  const complain = (line: string): unknown => complaints.push(line);
  const context = { env: {}, print: complain, complain, controllers: REGISTRY };
  for (const command of ["run", "check"]) {
    complaints.length = 0;
    expect(await main([command, ...flags, "--secure-port=0"], context)).toBe(
      command === "run" ? 2 : 1,
    );
    expect(complaints.join("")).toContain(problem);
    expect(complaints.join("")).not.toContain(SECRET);
  }
  await stop();
});

test("landfall check of it alone reads its section, and takes the file of a whole cluster", async () => {
  const { folder, kubeconfig, kubernetes, stop } = await startBareServer();
  kubernetes.installKind(GALLERIES);
  const file = join(folder, "config.yaml");
  await writeFile(file, `${XO}deletion: { enabled: false }\ngalleries: { most: 1 }\n`);
  const { settings, cloud } = await check(kubeconfig, NAME, [`--cloud-config=${file}`]);
  expect(settings).not.toHaveProperty("provider");
  expect(settings.file).toBe(file);
  expect(settings.findings).toContainEqual(
    expect.objectContaining({ level: "warning", path: "galleries.most", line: 4 }),
  );
  expect(cloud.status).toBe("skipped");
  await stop();
});

test.each(["example", "xenorchestra"])(
  "with the cloud %s one that needs changes runs, or says why not",
  async (cloud) => {
    const { folder, kubeconfig, stop } = await startBareServer();
    const file = join(folder, "config.yaml");
    // Nobody listens there.
    const texts: Readonly<Record<string, string>> = {
      example: "machines: [one]\n",
      xenorchestra: `url: https://127.0.0.1:9\ntoken: ${SECRET}\n`,
    };
    await writeFile(file, texts[cloud] ?? "");
    const needy = { ...galleryController, needsCloud: true, needs: ["changes"] } as const;
    const flags = [
      `--cloud-provider=${cloud}`,
      `--cloud-config=${file}`,
      `--kubeconfig=${kubeconfig}`,
    ];
    const printed: string[] = [];
    const print = (line: string): unknown => printed.push(line);
    const context = {
      env: {},
      print,
      complain: print,
      controllers: [...CONTROLLERS, needy],
      providers: [...PROVIDERS, EXAMPLE],
    } as const;
    const check = async (controllers: string): Promise<CheckReport> => {
      printed.length = 0;
      await main(["check", `--controllers=${controllers}`, "--output=json", ...flags], context);
      return JSON.parse(printed.join(""));
    };
    const lack = `the cloud ${cloud} cannot report changes as they happen`;
    const why = `controller ${NAME} cannot run: ${lack}`;
    const left = `controller ${NAME} does not run: ${lack}`;
    const [byStar, byName] = [await check("*"), await check(`*,${NAME}`)];
    const can = cloud === "xenorchestra";
    expect(byStar.settings.status).toBe("ok");
    expect(byStar.settings.findings.some(({ message }) => message === left)).toBe(!can);
    expect(byStar.permissions.permissions.some(({ resource }) => resource === "galleries")).toBe(
      can,
    );
    expect(JSON.stringify(byStar.kubernetes.findings).includes("galleries")).toBe(can);
    expect(byName.settings.status).toBe(can ? "ok" : "failure");
    if (!can) {
      expect(byName.settings.findings).toContainEqual(
        expect.objectContaining({ level: "failure", source: "--controllers", message: why }),
      );
      printed.length = 0;
      const code = await main(
        ["run", `--controllers=${NAME}`, "--secure-port=0", ...flags],
        context,
      );
      expect(code).toBe(2);
      expect(printed.join("")).toContain(`--controllers: ${why}`);
    }
    await stop();
  },
);

test("a run leaves out one that * chose and the cloud is not enough for, and says why", async () => {
  const { kubernetes, folder, kubeconfig, stop } = await startBareServer();
  kubernetes.installKind(GALLERIES);
  kubernetes.objects.createNode(toRegistration("one"));
  const cloudConfig = join(folder, "cloud.yaml");
  await writeFile(cloudConfig, "machines: [one]\n");
  const landfall = startLandfall(PROGRAM, [
    `--controllers=*,-${NAME}`,
    "--cloud-provider=example",
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    "--secure-port=0",
    "--debug-address=",
  ]);
  const spec = (): string => JSON.stringify(kubernetes.objects.getNode("one")?.["spec"]);
  await until("the Node is initialised", () => spec().includes("example://one"), 15_000);
  const asked = kubernetes.requests.entries.map(({ resource }) => resource);
  expect(asked).not.toContain("galleries");
  expect((await landfall.stop()).code).toBe(0);
  expect(landfall.log).toContain(
    `controller ${LISTENER_NAME} does not run: the cloud example cannot`,
  );
  await stop();
}, 30_000);

test("what one that is off by default may do stands apart, and is granted where it is named", () => {
  const right = { apiGroups: ["example.org"], resources: ["galleries"], verbs: ["delete"] };
  const needs = needAll(LEASE, REGISTRY);
  expect(toPolicy(listRights(needs)).clusterRules).not.toContainEqual(
    expect.objectContaining({
      verbs: expect.arrayContaining(["delete"]),
      apiGroups: ["example.org"],
    }),
  );
  expect(toPolicy(listFurtherRights(needs, TWIN_NAME)).clusterRules).toEqual([right]);
  const [all = "", own = "", more] = (
    renderPages({ ...ALL, controllers: REGISTRY }).get("permissions.md") ?? ""
  ).split("\n## ");
  expect(all).not.toContain("to close galleries");
  expect(own).toStartWith(`\`${TWIN_NAME}\`\n`);
  expect(own).toContain("| `delete` | `galleries.example.org` ");
  expect(own).not.toContain("| `patch`");
  expect(more).toBeUndefined();
  // One that needs no cloud and has a Lease may run alone: then it is granted all that it needs.
  const { lease: _lease, ...withoutLease } = twinController;
  const registry = [...listInstalled(CONTROLLERS), galleryController, withoutLease];
  const [before = "", condition, after = ""] = renderRules("Some.", registry).split(
    /^(\{\{- if or .*)\n/m,
  );
  const has = (name: string): string =>
    `(has "${name}" (splitList "," (include "landfall.controllers" .)))`;
  expect(condition).toBe(`{{- if or ${has(TWIN_NAME)} ${has(`${TWIN_NAME}-controller`)} }}`);
  expect(before).toContain("resources: [galleries]\n  verbs: [list, watch, patch]");
  expect(after.split("{{- end }}")[0]).toBe(
    "- apiGroups: [example.org]\n  resources: [galleries]\n  verbs: [delete]\n",
  );
});

test("one that is off by default is shown to be so, and runs where it is named", () => {
  const select = (...items: string[]): readonly string[] => [
    ...selectControllers(items, listControllerNames(REGISTRY)).enabled,
  ];
  const off = ["-cloud-node", "-cloud-node-label-sync", "-cloud-node-lifecycle"];
  expect(select("*", ...off)).toEqual([NAME]);
  expect(select("*", ...off, "example-gallery-twin-controller")).toEqual([NAME, TWIN_NAME]);
  expect(select(TWIN_NAME)).toEqual([TWIN_NAME]);
  expect(select("*", `-${TWIN_NAME}`, TWIN_NAME)).not.toContain(TWIN_NAME);
  const spec = findCommand("run");
  const help = spec && formatCommandHelp(spec, { registry: REGISTRY, width: Infinity });
  expect(help).toEndWith(`, ${NAME}, ${TWIN_NAME} (off until chosen by name)\n`);
  const flags = renderPages({ ...ALL, controllers: REGISTRY }).get("flags.md") ?? "";
  const row = flags.split("\n").find((line) => line.startsWith(`| \`${TWIN_NAME}\` `));
  expect(row).toContain(" yes, off until chosen by name ");
  expect(flags.match(/off until chosen/g)).toHaveLength(1);
});

/** What `landfall check` of the example controller alone reports. */
async function check(
  kubeconfig: string,
  controllers = NAME,
  more: readonly string[] = [],
): Promise<CheckReport> {
  const printed: string[] = [];
  const print = (text: string): unknown => printed.push(text);
  const flags = [
    `--controllers=${controllers}`,
    `--kubeconfig=${kubeconfig}`,
    "--output=json",
    ...more,
  ];
  const context = { env: {}, print, complain: print, controllers: REGISTRY };
  expect(await main(["check", ...flags], context)).toBe(0);
  return JSON.parse(printed.join(""));
}

test("landfall check of it alone asks for its rights and its kind, and for no cloud and no Node", async () => {
  const { kubeconfig, kubernetes, stop } = await startBareServer();
  expect((await check(kubeconfig)).kubernetes.findings).toContainEqual(
    expect.objectContaining({ level: "warning", code: "missingKind" }),
  );
  kubernetes.installKind(GALLERIES);
  const report = await check(kubeconfig);
  expect(report.status).toBe("ok");
  expect(report.settings).not.toHaveProperty("provider");
  expect([report.cloud.status, report.nodes.status]).toEqual(["skipped", "skipped"]);
  const asked = report.permissions.permissions.map(({ verb, resource }) => `${verb} ${resource}`);
  expect(asked.filter((right) => !/events|leases|reviews/.test(right))).toEqual([
    "list galleries",
    "watch galleries",
    "list configmaps",
    "watch configmaps",
    "patch galleries",
    "create configmaps",
    "patch configmaps",
    "delete configmaps",
  ]);
  expect(kubernetes.requests.entries.some(({ resource }) => resource === "nodes")).toBe(false);
  await stop();
});

test("landfall check asks for the rights of one that is off by default only where it is named", async () => {
  const { kubeconfig, kubernetes, stop } = await startBareServer();
  kubernetes.installKind(GALLERIES);
  const off = "-cloud-node,-cloud-node-label-sync,-cloud-node-lifecycle";
  const asksToDelete = async (controllers: string): Promise<boolean> => {
    const { permissions } = (await check(kubeconfig, controllers)).permissions;
    return permissions.some(({ verb, resource }) => verb === "delete" && resource === "galleries");
  };
  expect(await asksToDelete(`*,${off}`)).toBe(false);
  expect(await asksToDelete(`*,${off},${TWIN_NAME}`)).toBe(true);
  await stop();
});
