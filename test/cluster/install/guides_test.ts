/**
 * Commands of the guides on a real API server, as they stand.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import { formatResource } from "../../../lib/cli/check/permissions.ts";
import type { CheckReport } from "../../../lib/cli/check/report.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ClusterRig } from "../../support/process/cluster_rig.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { PROGRAM, runLandfall } from "../../support/process/landfall_process.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { readSource, ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const isSkipped = skipsCluster();
const kubectl = isSkipped ? undefined : await findKubectl();

/** Blocks of a page in its order, cut to the commands that begin with `start`. */
async function readCommands(page: string, start: string): Promise<readonly string[]> {
  const blocks = listCodeBlocks(await readSource(page), "sh");
  const lines = blocks.flatMap((text) => text.replaceAll(/\\\n\s*/g, " ").split("\n"));
  return lines.filter((line) => line.startsWith(start));
}

describe.skipIf(kubectl === undefined)("commands of docs/guides", () => {
  let started: ClusterRig | undefined;
  let folder = "";
  const useRig = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };

  /** Runs a script as an administrator in a folder that has the project's `deploy` in it. */
  const runScript = async (script: string): Promise<string> => {
    const path = [join(folder, "bin"), process.env["PATH"]].join(delimiter);
    const env = { ...process.env, PATH: path, KUBECONFIG: useRig().cluster.adminKubeconfigPath };
    const options = { cwd: folder, env: { ...env, HOME: folder }, timeout: TIMEOUT_MS };
    return (await run("sh", ["-euc", script], options)).stdout;
  };

  beforeAll(async () => {
    started = await ClusterRig.start();
    folder = join(started.cluster.folder, "guide");
    await mkdir(join(folder, "bin"), { recursive: true });
    const program = kubectl ?? "";
    const path = isAbsolute(program) ? program : (Bun.which(program) ?? resolve(program));
    await symlink(path, join(folder, "bin", "kubectl"));
    await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
    await writeFile(join(folder, "landfall.yaml"), `url: ${started.cloud.url}\ntoken: x\n`);
  }, 120_000);
  afterAll(() => started?.stop());

  test("install.md makes a kubeconfig that, with its rights, is all that Landfall needs", async () => {
    const { cluster, cloud } = useRig();
    const blocks = listCodeBlocks(await readSource("docs/guides/install.md"), "sh");
    const block = blocks.find((text) => text.includes("openssl req"));
    const script = (block ?? "")
      .replace(/^API=.*$/m, `API=${cluster.url}`)
      .replaceAll(/^(\w+_CA)=.*$/gm, `$1=${cluster.caPath}`)
      .replace(/^CLIENT_KEY=.*$/m, `CLIENT_KEY=${cluster.caPath.replace(/\.crt$/, ".key")}`);
    await runScript(script);
    const left = await readdir(folder);
    expect(left.filter((name) => /\.(key|csr|crt)$/.test(name))).toEqual([]);

    const rights = (await readCommands("docs/guides/install.md", "kubectl apply")).filter((line) =>
      line.includes("rbac-user.yaml"),
    );
    expect(rights).toHaveLength(1);
    await runScript(rights.join("\n"));

    const [check = ""] = await readCommands("docs/guides/configure.md", "landfall check");
    const args = check.split(/\s+/).slice(1);
    const files = args.map((arg) => arg.replace(/=landfall\.yaml$/, `=${folder}/landfall.yaml`));
    const env = { KUBECONFIG: join(folder, "landfall.kubeconfig") };
    await writeFile(join(folder, "landfall.yaml"), `url: ${cloud.url}\ntoken: ${cloud.token}\n`);
    const { code, stdout, stderr } = await runLandfall(PROGRAM, files, env);
    expect(code, stdout + stderr).toBe(0);
  }, 60_000);

  test("the commands that check prints grant the rights on Services, also where some exist", async () => {
    const { cloud, cluster } = useRig();
    const pools = "loadBalancers: { pools: [{ name: a, addresses: [192.0.2.1] }] }";
    await writeFile(
      join(folder, "pools.yaml"),
      `url: ${cloud.url}\ntoken: ${cloud.token}\n${pools}\n`,
    );
    const args = [
      `--cloud-config=${folder}/pools.yaml`,
      `--kubeconfig=${cluster.adminKubeconfigPath}`,
      "--as=newcomer",
      "--output=json",
    ];
    const check = async (): Promise<{
      missing: readonly string[];
      commands: readonly string[];
    }> => {
      const { stdout } = await runLandfall(PROGRAM, ["check", ...args]);
      const { permissions }: CheckReport = JSON.parse(stdout);
      const missing = permissions.permissions.filter(({ allowed }) => allowed !== "yes");
      const { advice = "" } = permissions;
      return {
        missing: missing.map((one) => `${one.verb} ${formatResource(one)}`),
        commands: advice.match(/kubectl create .*? \| kubectl auth reconcile -f -/g) ?? [],
      };
    };
    // Left by a version that needed less.
    await runScript("kubectl create clusterrole landfall-services --verb=list --resource=services");
    const before = await check();
    expect(before.missing).toContain("patch services/status");
    expect(before.commands).toHaveLength(6);
    for (let round = 0; round < 2; round++) await runScript(before.commands.join("\n"));
    const after = await check();
    expect(after.commands).toEqual([]);
    // The manifest grants this one, for the addresses of Nodes; the advice is to apply it.
    const ofManifest = ["watch services"];
    expect(after.missing.filter((right) => /services|namespaces/.test(right))).toEqual(ofManifest);
  }, 60_000);

  test("README.md makes the files that its first commands need, for this user alone", async () => {
    const { cloud } = useRig();
    const built = join(folder, "readme", "dist", "landfall");
    await mkdir(dirname(built), { recursive: true });
    const command = PROGRAM.command.map((word) => `'${word}'`).join(" ");
    await writeFile(built, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    const blocks = listCodeBlocks(await readSource("README.md"), "sh");
    const block = blocks.find((text) => text.includes("dist/landfall check")) ?? "";
    const script = block
      .replace("npm ci && npm run build", "cd readme")
      .replace(/^XOA_URL=.*$/m, `XOA_URL=${cloud.url}`)
      .replace(/^XOA_TOKEN=.*$/m, `XOA_TOKEN=${cloud.token}`);
    expect(await runScript(script)).toContain("Nodes");
    const { mode } = await stat(join(folder, "readme", "landfall.yaml"));
    expect((mode & 0o777).toString(8)).toBe("600");
  }, 60_000);

  test("metrics-and-alerts.md gives Prometheus the right to read /metrics, and no more", async () => {
    const commands = await readCommands("docs/guides/metrics-and-alerts.md", "kubectl create");
    expect(commands).toHaveLength(2);
    await runScript(commands.join("\n"));
    const mayGet = (path: string): Promise<string> =>
      runScript(
        `kubectl auth can-i get ${path} --as=system:serviceaccount:monitoring:prometheus || true`,
      );
    expect((await mayGet("/metrics")).trim()).toBe("yes");
    expect((await mayGet("/debug/nodes")).trim()).toBe("no");
  });

  test("install.md and migrate.md keep the settings in the Secret that the manifests mount", async () => {
    const [create = ""] = await readCommands(
      "docs/guides/install.md",
      "kubectl -n kube-system create secret",
    );
    await runScript(create);
    const [get = ""] = await readCommands(
      "docs/guides/migrate.md",
      "kubectl -n kube-system get secret",
    );
    await runScript(get);
    expect(await Bun.file(join(folder, "config.yaml")).text()).toBe(
      await Bun.file(join(folder, "landfall.yaml")).text(),
    );
    const manifest = await readSource("deploy/manifests/deployment.yaml");
    expect(manifest).toContain(`secretName: ${/generic (\S+)/.exec(create)?.[1]}\n`);
  });

  test("install-cloudstack.md makes the settings that its first commands need, for this user alone", async () => {
    const { world } = createDemoWorld();
    const simulator = await startCloudStackSimulator({ clock: systemClock, world });
    try {
      const built = join(folder, "cloudstack", "dist", "landfall");
      await mkdir(dirname(built), { recursive: true });
      const command = PROGRAM.command.map((word) => `'${word}'`).join(" ");
      await writeFile(built, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
      await writeFile(join(folder, "cloudstack", "api-key"), simulator.apiKey);
      await writeFile(join(folder, "cloudstack", "secret-key"), simulator.secretKey);
      const blocks = listCodeBlocks(await readSource("docs/guides/install-cloudstack.md"), "sh");
      const block = blocks.find((text) => text.includes("dist/landfall check")) ?? "";
      const script = block
        .replace("npm ci && npm run build", "cd cloudstack")
        .replace(/^CLOUDSTACK_URL=.*$/m, `CLOUDSTACK_URL=${simulator.url}`);
      expect(await runScript(script)).toContain("answers and accepts the keys");
      const { mode } = await stat(join(folder, "cloudstack", "cloud-config"));
      expect((mode & 0o777).toString(8)).toBe("600");
    } finally {
      await simulator.stop();
    }
  }, 60_000);

  test("install-cloudstack.md keeps the settings in the Secret that its manifests mount", async () => {
    const page = "docs/guides/install-cloudstack.md";
    const create = await readCommands(page, "kubectl -n kube-system create secret");
    expect(new Set(create).size).toBe(1);
    await writeFile(join(folder, "cloud-config"), "[Global]\n");
    await runScript(create[0] ?? "");
    const manifest = await readSource("deploy/manifests/cloudstack/daemonset.yaml");
    const [, secret, file] = /generic (\S+) --from-file=(\S+)/.exec(create[0] ?? "") ?? [];
    expect(manifest).toContain(`secretName: ${secret}\n`);
    expect(manifest).toMatch(new RegExp(`--cloud-config=/\\S+/${file}\n`));
    const rights = new Set(await readCommands(page, "kubectl apply -f"));
    expect(rights.size).toBe(1);
    const looks = await readCommands(page, "kubectl get");
    expect(looks.length).toBeGreaterThan(1);
    await runScript([...rights, ...looks].join("\n"));
  });

  test("what install.md and migrate.md look at is there to be asked for", async () => {
    const commands = [
      ...(await readCommands("docs/guides/install.md", "kubectl get")),
      ...(await readCommands("docs/guides/migrate.md", "kubectl get")),
    ];
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) await runScript(command);
    expect(await readdir(folder)).toContain("nodes-after.txt");
  });
});
