import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { PROGRAM, runLandfall, startLandfall } from "../../support/process/landfall_process.ts";
import { until } from "../../support/nodes/rig.ts";

const run = promisify(execFile);
const kubectl = await findKubectl();
const EXIT_MS_MAX = 60_000;
/** What a pipe holds. */
const PIPE_BYTES = 65_536;

describe(`landfall as ${PROGRAM.name}`, () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-process-test-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("ends with 2 and names every problem of its settings and its line (P-05)", async () => {
    const config = join(folder, "bad.yaml");
    await writeFile(config, "url: not a url\ninsecure: maybe\nclientTimeout: soon\ntoken: a b\n");
    const args = ["run", "--cloud-provider=xenorchestra", `--cloud-config=${config}`];
    const { code, stderr } = await runLandfall(PROGRAM, [...args, "--debug-address=127.0.0.1:0"]);
    expect(code, stderr).toBe(2);
    const problems = stderr.split("\n").filter((line) => line.startsWith("landfall: "));
    for (const [at, key] of ["url", "insecure", "clientTimeout", "token"].entries()) {
      const line = problems.find((one) => one.includes(key) && one.includes(`bad.yaml:${at + 1}`));
      expect(line, `a problem of ${key} in:\n${stderr}`).toBeDefined();
    }
    expect(problems).toHaveLength(4);
  });

  test("ends with 2 and names every wrong flag (P-01)", async () => {
    const args = ["run", "--leader-elect=maybe", "--cloud-provder=static", "--controllers=nodes"];
    const { code, stderr } = await runLandfall(PROGRAM, args);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain("--cloud-provider");
    expect(stderr).toContain("--leader-elect");
    expect(stderr).toContain("nodes");
  });

  test("ends with 1 when what was asked for could not be printed", async () => {
    const command = `${PROGRAM.command.join(" ")} version > /dev/full`;
    await expect(run("sh", ["-c", command])).rejects.toMatchObject({ code: 1 });
  });

  test("ends with 2 when the kubeconfig is not there", async () => {
    const config = join(folder, "static.yaml");
    await writeFile(config, "instances: []\n");
    const path = join(folder, "missing.kubeconfig");
    const args = ["--cloud-provider=static", `--cloud-config=${config}`, "--leader-elect=false"];
    const { code, stderr } = await runLandfall(PROGRAM, ["run", ...args, `--kubeconfig=${path}`]);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(path);
  });

  test("is well while nobody reads its log, of which nothing is lost", async () => {
    const go = join(folder, "go");
    const pid = join(folder, "pid");
    const config = join(folder, "log.yaml");
    await writeFile(config, "instances: []\n");
    const unix = join(folder, "debug.sock");
    const args = ["--cloud-provider=static", `--cloud-config=${config}`, "--master=http://[::1]:1"];
    const listeners = [`--debug-address=unix:${unix}`, "--secure-port=0"];
    // Without --foreground, timeout(1) signals its process group, too: a second signal ends Landfall at once.
    const script = `
      sh -c 'echo $$ > ${pid}; head -c ${PIPE_BYTES} /dev/zero >&2
        exec timeout --foreground 60 "$@"' sh "$@" 2>&1 >/dev/null |
        (while [ ! -e ${go} ]; do sleep 0.1; done; tr -d '\\0')`;
    const command = [...PROGRAM.command, "run", ...args, ...listeners];
    const ended = run("sh", ["-c", script, "sh", ...command], { timeout: EXIT_MS_MAX });
    try {
      await until("it answers", async () => {
        const reply = await fetch("http://localhost/livez", { unix }).catch(() => undefined);
        return reply?.status === 200;
      });
    } finally {
      await writeFile(go, "");
    }
    process.kill(Number(await readFile(pid, "utf8")), "SIGTERM");
    const { stdout } = await ended;
    expect(stdout).toContain("Landfall starts");
    expect(stdout).toMatch(/Landfall stopped\n$/);
  });

  test.each(["xenorchestra", "cloudstack"])(
    "plays the demo's story on %s to its end and exits 0",
    async (cloud) => {
      const args = ["demo", "--once", `--cloud=${cloud}`, "--debug-address=127.0.0.1:0"];
      const { code, stdout, stderr } = await runLandfall(PROGRAM, args, { TMPDIR: folder });
      expect(stderr).toBe("");
      expect(stdout).toContain("Every step succeeded.");
      expect(code).toBe(0);
    },
    EXIT_MS_MAX,
  );

  test.each([
    ["xenorchestra", "worker-uefi"],
    ["cloudstack", "worker-fqdn.k8s.example"],
  ])(
    "keeps the demo on %s up for kubectl and curl until SIGTERM, then exits 0 and leaves no file",
    async (cloud, name) => {
      const args = ["demo", `--cloud=${cloud}`, "--debug-address=127.0.0.1:0"];
      const demo = startLandfall(PROGRAM, args, { TMPDIR: folder });
      await demo.waitForOutput("Press Ctrl-C to stop.");
      const variables = await readVariables(demo.output);
      const nodes = await fetch(`http://${variables.get("LANDFALL_DEBUG_ADDRESS")}/debug/nodes`);
      expect(await nodes.text()).toContain(`"${name}"`);
      const [, pageUrl = ""] = /in a browser: (http:\S+)/.exec(demo.output) ?? [];
      const page = await fetch(pageUrl, { headers: { accept: "text/html" } });
      expect(await page.text()).toContain(`href="nodes/${name}"`);
      if (kubectl !== undefined) {
        await expectKubectl(kubectl, demo.output, variables.get("KUBECONFIG") ?? "");
      }
      const { code, stderr } = await demo.stop();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const left = new Bun.Glob("landfall-demo-*").scanSync({ cwd: folder, onlyFiles: false });
      expect([...left]).toEqual([]);
    },
    EXIT_MS_MAX,
  );
});

/** The variables of the file that the demo makes a shell read. */
async function readVariables(output: string): Promise<ReadonlyMap<string, string>> {
  const [, file = ""] = /^ +\. (\S+)$/m.exec(output) ?? [];
  const lines = (await readFile(file, "utf8")).matchAll(/^export (\w+)=(\S+)$/gm);
  return new Map([...lines].map(([, name = "", value = ""]) => [name, value]));
}

/** Runs the commands that the demo invites to, as it prints them. */
async function expectKubectl(kubectl: string, output: string, config: string): Promise<void> {
  const commands = [...output.matchAll(/^ +kubectl (.+)$/gm)].map(([, rest = ""]) => rest);
  const ask = async (words: string, limit: readonly string[] = []): Promise<string> => {
    const command = commands.find((one) => one.includes(words));
    expect(command, words).toBeDefined();
    const args = [...(command?.split(" ") ?? []), ...limit];
    const own = ["--kubeconfig", config, "--cache-dir", `${config}-cache`];
    const { stdout } = await run(kubectl, [...args, ...own], { timeout: 20_000 });
    return stdout;
  };
  const zones = (await ask("get nodes -L")).split("\n");
  expect(zones[0]).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION +ZONE$/);
  // Nine, but for the one that the story deletes.
  expect(
    zones.filter((line) => /^\S+ +Ready .* ([0-9a-f-]{36}|paris|lyon)$/.test(line)),
  ).toHaveLength(8);
  const described = await ask("describe node");
  expect(described).toMatch(/ProviderID:\s+(xenorchestra|external-cloudstack):\/\//);
  expect(described).toMatch(/Normal\s+Synced/);
  const events = await ask("get events -A");
  expect(events).toMatch(/^default .*Warning +NodeInitializationFailed +node\/worker-late/m);
  expect(events).toMatch(/^default .*Node(ZoneChanged|InstanceTypeHasChanged) +node\/worker-1/m);
  expect(events).toMatch(/^default .*Warning +NodeDeletionBlocked +node\/worker-3/m);
  expect(events).toMatch(/^default .*Normal +DeletingNode +node\/worker-2/m);
  // A watch has no end of its own; one that times out has seen what there was.
  expect(await ask("get nodes -w", ["--request-timeout=2s"])).toMatch(/^worker-late +Ready/m);
}
