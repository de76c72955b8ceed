import { afterAll, beforeAll, expect, test } from "bun:test";
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { demo } from "../../../lib/cli/demo/mod.ts";
import { PacedClock } from "../../support/paced_clock.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);

interface Played {
  readonly code: number;
  readonly out: string;
  readonly kubeconfig: string;
  /** The page, as the story begins. */
  readonly page: string;
  /** What `landfall check` says in a shell that uses the demo. */
  readonly report: unknown;
}

// The file that the demo writes for shells runs the program of the process: not the runner of the tests.
const [, runner = ""] = process.argv;
beforeAll(() => {
  process.argv[1] = join(ROOT, "main.ts");
});
afterAll(() => {
  process.argv[1] = runner;
});

/**
 * Plays the story on one cloud, and runs the printed `landfall check` in a shell before its first step.
 *
 * @param pace How much faster than usual
 */
async function playOnce(cloud: string, pace: number): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-test-"));
  const path = join(folder, "kubeconfig");
  let out = "";
  let check: Promise<{ readonly stdout: string }> | undefined;
  let page: Promise<string> | undefined;
  const clock = new PacedClock(pace);
  const argv = ["--once", `--cloud=${cloud}`, "--debug-address=127.0.0.1:0", "--kubeconfig", path];
  const code = await demo(argv, {
    env: {},
    clock,
    print: (text) => {
      out += text;
      const [, url] = /^ +# in a browser: (\S+)$/m.exec(text) ?? [];
      if (url !== undefined) page ??= fetch(url).then((reply) => reply.text());
      const [source] = /^ +\. .*\/env$/m.exec(text) ?? [];
      if (source === undefined) return;
      // The story waits for it. What it finds of the first step decides its exit code.
      clock.setPace(0);
      expect(text).toContain("\n  landfall check\n");
      const command = `${source}\nlandfall check -o json || true`;
      check = run("sh", ["-c", command]).finally(() => clock.setPace(pace));
    },
    complain: (text) => (out += text),
  });
  const { stdout = "{}" } = (await check) ?? {};
  const kubeconfig = await readFile(path, "utf8");
  await rm(folder, { recursive: true });
  return { code, out, kubeconfig, page: (await page) ?? "", report: JSON.parse(stdout) };
}

/** What the story has on every cloud. */
function expectTold({ code, out, kubeconfig, page, report }: Played, steps: number): void {
  // No page of a kind whose controller does not run, and no red word about what it lacks.
  expect(page).toContain("load-balancers");
  expect(page).not.toMatch(/CustomResourceDefinition|sipclusters|vinos/);
  expect(JSON.stringify(report)).not.toContain("cannot make load balancers");
  expect(out).toMatch(/^A simulated Kubernetes API listens at http:\/\/127\.0\.0\.1:\d+$/m);
  expect(out).toMatch(/^ {2}# in a browser: http:\/\/127\.0\.0\.1:\d+\/debug\/$/m);
  // Whoever pastes the commands as a block gets stuck at one that never ends.
  expect(out).not.toMatch(/ -w\b.*\n {2}(?:kubectl|landfall) /);
  expect(out).toContain("Every step succeeded.");
  expect(code).toBe(0);
  expect(out.match(/^ {5}OK$/gm)).toHaveLength(steps);
  expect(out).toContain("worker-late: NodeInitializationFailed");
  expect(out).toContain("worker-3: NodeDeletionBlocked");
  expect(out).toContain("worker-2: DeletingNode: ");
  expect(out).toMatch(/are deleted, and only \S+\/kubeconfig is left\.\n$/);
  expect(out.match(/^ {2}- {2}\S+ is deleted$/gm)).toEqual(["  -  worker-2 is deleted"]);
  expect(out).toContain("Figures: 9 Nodes, 1 of them deleted");
  expect(out).toMatch(/in total +\d+ {3}\d+ for \d+ inventories/);
  expect(kubeconfig).toContain("current-context: demo");
}

// Both wait most of the time.
test.concurrent(
  "demo() --once plays the story on Xen Orchestra, ends with 0 and tells every step",
  async () => {
    const played = await playOnce("xenorchestra", 6);
    expectTold(played, 16);
    expect(played.out).toContain("worker-uefi is xenorchestra://");
    expect(played.out).toContain("worker-1: NodeZoneChanged");
    expect(played.out).toMatch(/^ {2}~ {2}default\/web has the address 192\.0\.2\.\d+$/m);
    expect(played.out).toContain("  !  default/shop: AddressNotAvailable: ");
    expect(played.report).toMatchObject({
      settings: { status: "ok" },
      cloud: { counts: { pools: 2 } },
      kubernetes: { status: "ok" },
    });
  },
  120_000,
);

test.concurrent(
  "demo() --once plays the story on CloudStack, too",
  async () => {
    const played = await playOnce("cloudstack", 6);
    expectTold(played, 17);
    expect(played.out).toContain("worker-fqdn.k8s.example is external-cloudstack://");
    expect(played.out).toContain("worker-1 has the instance type Large8ber");
    expect(played.out).toMatch(/^ {2}~ {2}default\/web has the address 198\.51\.100\.\d+$/m);
    expect(played.out).toContain("  *  CloudStack: nothing is left of default/web");
    expect(played.out).not.toContain("outOfService");
    expect(played.report).toMatchObject({
      settings: { status: "ok", provider: "external-cloudstack" },
      cloud: { counts: { zones: 2, vms: 10 } },
      kubernetes: { status: "ok" },
    });
  },
  120_000,
);

test.each([
  ["--kubeconfig=FILE that exists", "exists already"],
  [
    "--kubeconfig=/proc/nowhere/kubeconfig",
    'cannot write "/proc/nowhere/kubeconfig": there is no such folder',
  ],
  ["--debug-address=0.0.0.0:0", "loopback"],
])("demo() refuses %s", async (flag, message) => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-test-"));
  const file = join(folder, "precious");
  await writeFile(file, "mine");
  const argv = [flag.replace("FILE that exists", file), "--once"];
  await expect(demo(argv, { env: {}, print: () => {}, complain: () => {} })).rejects.toThrow(
    message,
  );
  expect(await readFile(file, "utf8")).toBe("mine");
  await rm(folder, { recursive: true });
});

test("demo() says which folder it needs", async () => {
  const { TMPDIR } = process.env;
  process.env["TMPDIR"] = "/proc/nowhere";
  const ended = demo([], { env: {}, print: () => {}, complain: () => {} });
  const problem = 'cannot make a folder in "/proc/nowhere": there is no such folder; set TMPDIR';
  await expect(ended).rejects.toThrow(problem);
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
});

test("demo() prints nothing when its port is taken", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  let out = "";
  const print = (text: string): void => void (out += text);
  const argv = ["--once", `--debug-address=127.0.0.1:${other.port}`];
  const ended = demo(argv, { env: {}, print, complain: print });
  await expect(ended).rejects.toThrow(/set --debug-address to another port$/);
  const underNpm = demo(argv, { env: { npm_lifecycle_event: "demo" }, print, complain: print });
  await expect(underNpm).rejects.toThrow(/: npm run demo -- --debug-address=127\.0\.0\.1:0$/);
  for (const choice of ["vino", "--cloud=cloudstack"]) {
    const chosen = demo([choice, ...argv], {
      env: { npm_lifecycle_event: "demo" },
      print,
      complain: print,
    });
    await expect(chosen).rejects.toThrow(`: npm run demo -- ${choice} --debug-address=127.0.0.1:0`);
  }
  expect(out).toBe("");
});

test("demo() leaves no files after Ctrl-C, which comes twice under npm", async () => {
  const main = join(ROOT, "main.ts");
  const child = spawn(
    process.execPath,
    [main, "demo", "sipcluster", "--debug-address=127.0.0.1:0"],
    { env: { ...process.env, SHELL: "/bin/sh" }, stdio: ["ignore", "pipe", "inherit"] },
  );
  let out = "";
  const told = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<readonly [number | null, NodeJS.Signals | null]>();
  child.stdout.on("data", (data) => {
    out += String(data);
    const [, folder] = /^ +\. (.*)\/env$/m.exec(out) ?? [];
    if (folder !== undefined && out.includes("until you press Ctrl-C")) told.resolve(folder);
  });
  child.on("exit", (code, received) => ended.resolve([code, received]));
  const folder = await told.promise;
  child.kill("SIGINT");
  // The second follows at once: later, the process may be gone.
  await Bun.sleep(1);
  child.kill("SIGINT");
  expect(await ended.promise).toEqual([0, null]);
  expect(out).toEndWith(
    "\nThe demo has ended: everything that it started has stopped, its files are deleted, and nothing is left.\n",
  );
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
}, 30_000);

test.each<[string, NodeJS.Signals, Record<string, string>]>([
  ["a terminal that closes", "SIGHUP", {}],
  ["an npm that is killed", "SIGKILL", { npm_lifecycle_event: "demo" }],
])(
  "demo() leaves no process and no files after %s",
  async (_what, received, env) => {
    const command = `"${process.execPath}" "${join(ROOT, "main.ts")}" demo sipcluster --debug-address=127.0.0.1:0`;
    // The shell stands for npm. The kernel tells all processes of a terminal that it closed.
    const shell = spawn("sh", ["-c", `${command}; true`], {
      detached: true,
      env: { ...process.env, SHELL: "/bin/sh", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    const told = Promise.withResolvers<string>();
    const closed = Promise.withResolvers<void>();
    shell.stdout.on("data", (data) => {
      out += String(data);
      const [, folder] = /^ +\. (.*)\/env$/m.exec(out) ?? [];
      if (folder !== undefined) told.resolve(folder);
    });
    // It closes when no process has it any more.
    shell.stdout.on("close", () => closed.resolve());
    const folder = await told.promise;
    expect(await readdir(folder)).toContain("env");
    const { pid = 0 } = shell;
    process.kill(received === "SIGHUP" ? -pid : pid, received);
    await closed.promise;
    await expect(readdir(folder)).rejects.toThrow("ENOENT");
  },
  30_000,
);
