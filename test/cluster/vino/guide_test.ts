/**
 * Commands of docs/guides/vino/guide.md as they are written there, with a real kubectl, kustomize and Helm.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseFlags } from "../../../lib/cli/flags/mod.ts";
import { readSource, ROOT } from "../../support/sources.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { type Manifest, readManifests } from "../../support/deploy/deploy_tools.ts";
import { findHelm, findKubectl } from "../../support/kube/kubectl.ts";

const kubectl = await findKubectl();
const helm = await findHelm();
const blocks = listCodeBlocks(await readSource("docs/guides/vino/guide.md"), "sh");

function findBlock(word: string): string {
  return blocks.find((text) => text.includes(word)) ?? "";
}

function toPath(tool: string | undefined): string {
  return Bun.which(tool ?? "") ?? resolve(tool ?? "");
}

describe.skipIf(kubectl === undefined || helm === undefined)("docs/guides/vino/guide.md", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-vino-guide-"));
    await mkdir(join(folder, "bin"));
    await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
    await writeFile(join(folder, "token"), "a-token-of-43-characters\n");
    // Nothing is sent to a cluster: kubectl only shows what it would create, and Helm what it would install.
    const tools = {
      kubectl: `exec ${toPath(kubectl)} "$@" --dry-run=client --output=json\n`,
      helm: `shift; exec ${toPath(helm)} template "$@"\n`,
    };
    for (const [name, text] of Object.entries(tools)) {
      await writeFile(join(folder, "bin", name), `#!/bin/sh\n${text}`, { mode: 0o755 });
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function run(script: string): Promise<string> {
    const path = [join(folder, "bin"), process.env["PATH"]].join(delimiter);
    const env = { ...process.env, PATH: path, XOA_URL: "https://xo.example.org", HOME: folder };
    const options = { cwd: folder, env, stdout: "pipe", stderr: "pipe" } as const;
    const shell = Bun.spawn(["sh", "-euc", script], options);
    const [out, errors] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
    expect(await shell.exited, errors).toBe(0);
    return out;
  }

  test("makes the Secret that the manifests mount, with settings that name the token", async () => {
    const secret = JSON.parse(await run(findBlock("create secret generic landfall-vino")));
    expect(secret.metadata).toMatchObject({ name: "landfall-vino", namespace: "kube-system" });
    const text = Buffer.from(secret.data["config.yaml"], "base64").toString();
    expect(text).toStartWith('url: "https://xo.example.org"\ntoken: "a-token-of-43-characters"\n');
  });

  test("installs with Helm only this controller, its Secret and kinds, and only rights to read Nodes", async () => {
    const block = findBlock("helm install landfall-vino");
    const objects = readManifests(await run(block));
    const find = (kind: string): Manifest | undefined => objects.find((one) => one.kind === kind);
    const { containers, volumes } = Object(find("Deployment")?.spec?.["template"]).spec;
    const { settings } = parseFlags(containers[0].args.slice(1));
    expect([...settings.controllers]).toEqual(["vino"]);
    expect(volumes[0].secret.secretName).toBe("landfall-vino");
    const kinds = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    expect(kinds.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      "ippools.airship.airshipit.org",
      "vinoes.airship.airshipit.org",
      "vinomachines.airship.airshipit.org",
    ]);
    const rules = [Object(find("ClusterRole"))["rules"]].flat();
    const nodes = rules.filter(({ resources }) => resources.join() === "nodes");
    expect(nodes.map(({ verbs }) => verbs)).toEqual([["list", "watch"]]);
    expect(find("ServiceAccount")?.metadata.name).toBe("landfall-vino");
  });

  test("turns on management controllers with one line more", async () => {
    const line = listCodeBlocks(await readSource("docs/guides/vino/guide.md"), "yaml").find((one) =>
      one.startsWith("components:"),
    );
    const manifests = join(ROOT, "deploy/manifests/vino");
    const copy = join(folder, "vino");
    await run(`cp -r ${manifests} ${copy}; printf '%s' '${line}' >> ${copy}/kustomization.yaml`);
    const options = { stdout: "pipe", stderr: "pipe" } as const;
    const shell = Bun.spawn([toPath(kubectl), "kustomize", copy], options);
    const [out, errors] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
    expect(await shell.exited, errors).toBe(0);
    const objects = readManifests(out);
    const deployment = objects.find(({ kind }) => kind === "Deployment");
    expect(JSON.stringify(deployment)).toContain("--vino-redfish-service=");
    const names = objects.filter(({ kind }) => kind === "Service").map((one) => one.metadata.name);
    expect(names).toContain("landfall-vino-redfish");
  });

  test("turns on management controllers with values of the chart", async () => {
    const upgrade = findBlock("helm upgrade landfall-vino");
    const more = upgrade.match(/--set redfish\S+/g)?.join(" ") ?? "";
    const objects = readManifests(
      await run(`${findBlock("helm install landfall-vino").trim()} ${more}`),
    );
    const names = objects.filter(({ kind }) => kind === "Service").map((one) => one.metadata.name);
    expect(names).toEqual(["landfall-vino-redfish", "landfall-vino"]);
    const deployment = JSON.stringify(objects.find(({ kind }) => kind === "Deployment"));
    expect(deployment).toContain("--vino-redfish-service=kube-system/landfall-vino-redfish");
    const secret = findBlock("create secret tls").split(/\s+/)[4];
    expect(deployment).toContain(`"secretName":"${secret}"`);
  });
});
