import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import manifest from "../../../package.json" with { type: "json" };
import { systemClock } from "../../../lib/core/clock.ts";
import { type ApiObject, startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { waitUntil } from "../../support/process/cluster_rig.ts";
import { type Container, copyFolder, ImageStore, skipsImages } from "../../support/deploy/image.ts";
import { findFreePort } from "../../support/process/server_process.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const BASE = "localhost/base:test";
const IMAGE = "localhost/landfall:test";
const BINARY = join(ROOT, "dist", "landfall");
const STOP_MS_MAX = 10_000;
const isSkipped = skipsImages() || lacksBinary();

describe.skipIf(isSkipped)("the image", () => {
  let folder = "";
  let opened: ImageStore | undefined;
  const useStore = (): ImageStore => {
    if (opened === undefined) throw new Error("Cannot test: there is no image");
    return opened;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-image-test-"));
    const store = new ImageStore(await makeFolder(folder, "store"));
    opened = store;
    await store.buildBase(BASE);
    const args = { BASE, BINARY_FROM: "prebuilt", REVISION: "0123abc" };
    await store.build(IMAGE, ROOT, { args });
  }, 180_000);
  afterAll(async () => {
    await opened?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test("says what it is, and runs the program as nobody and without a compiler at run time", async () => {
    const { Labels, User, Entrypoint, Cmd, Env } = await useStore().readConfig(IMAGE);
    expect(Labels).toMatchObject({
      "org.opencontainers.image.title": "Landfall",
      "org.opencontainers.image.version": manifest.version,
      "org.opencontainers.image.revision": "0123abc",
      "org.opencontainers.image.licenses": manifest.license,
      "org.opencontainers.image.base.name": BASE,
    });
    expect({ User, Entrypoint, Cmd }).toEqual({
      User: "65532:65532",
      Entrypoint: ["/usr/local/bin/landfall"],
      Cmd: undefined,
    });
    expect(Env).toContain("BUN_JSC_useJIT=0");
    expect(Env).toContain("BUN_GC_TIMER_DISABLE=1");
    expect(Env).toContain("MIMALLOC_PURGE_HOLES_MIN_INTERVAL=10000");
  });

  test("has no shell and nothing of ours but the binary and the license", async () => {
    const base = await listFiles(await useStore().mount(BASE));
    const all = await listFiles(await useStore().mount(IMAGE));
    const shells = /^(ba|da|a|z|k|c|tc|fi)?sh$|^busybox$/;
    expect(all.filter((path) => shells.test(basename(path)))).toEqual([]);
    const known = new Set(base);
    expect(all.filter((path) => !known.has(path)).sort()).toEqual([
      "/licenses/landfall/LICENSE",
      "/usr/local/bin/landfall",
    ]);
  });

  test("prints its version without a place to write to", async () => {
    const { ended } = await useStore().start(IMAGE, ["version"]);
    expect(await ended).toEqual({ code: 0, stdout: `landfall ${manifest.version}\n`, stderr: "" });
  });

  test("plays the demo's story to its end as user 65532 and exits 0", async () => {
    const container = await useStore().start(IMAGE, ["demo", "--once"], { tmp: true });
    const status = await readStatus(await container.findPid());
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
    const { code, stdout, stderr } = await container.ended;
    expect(stdout, stderr).toContain("Every step succeeded.");
    expect(code).toBe(0);
  }, 60_000);

  test("leads as process 1 on a read-only disk, serves HTTPS, and exits 0 within 10 s of SIGTERM", async () => {
    const kubernetes = startKubernetesSimulator({ clock: systemClock });
    const port = await findFreePort();
    const config = await makeFolder(folder, "config");
    await writeFile(join(config, "static.yaml"), "instances: []\n");
    try {
      const container = await useStore().start(
        IMAGE,
        [
          `--master=${kubernetes.url}`,
          "--cloud-provider=static",
          "--cloud-config=/etc/landfall/static.yaml",
          "--leader-elect-resource-name=cloud-controller-manager-xenorchestra",
          `--secure-port=${port}`,
        ],
        { mounts: { "/etc/landfall": config } },
      );
      await waitUntil("readiness in the container", () => askReady(container, port));
      const holder = (): unknown => findHolder(kubernetes.objects.list("leases")[0]);
      await waitUntil("the Lease", async () => (holder() ? true : undefined));
      const pid = await container.findPid();
      const askedAt = performance.now();
      process.kill(pid, "SIGTERM");
      const { code, stderr } = await container.ended;
      expect(code, stderr).toBe(0);
      expect(performance.now() - askedAt).toBeLessThan(STOP_MS_MAX);
      expect(holder()).toBe("");
    } finally {
      await kubernetes.stop();
    }
  }, 60_000);

  test("can be built from what .containerignore lets through, and from nothing else", async () => {
    const containerfile = join(folder, "Context");
    await writeFile(containerfile, "FROM scratch\nCOPY . /\n");
    await useStore().build("localhost/context:test", ROOT, { containerfile });
    const context = await useStore().mount("localhost/context:test");
    const entries = (await readdir(context)).filter((name) => name !== "dist").sort();
    expect(entries).toEqual(
      [
        "LICENSE",
        "bunfig.toml",
        "lib",
        "main.ts",
        "package-lock.json",
        "package.json",
        "release",
        "tsconfig.json",
      ].sort(),
    );
    expect(await readdir(join(context, "release"))).toEqual(["bytecode_order.txt"]);
    const binaries = await readdir(join(context, "dist"));
    expect(binaries.filter((name) => name !== "release")).toEqual(["landfall"]);
    const source = join(folder, "source");
    await copyFolder(context, source);
    await symlink(join(ROOT, "node_modules"), join(source, "node_modules"));
    await run("npm", ["run", "build"], { cwd: source, timeout: 100_000 });
    const { stdout } = await run(join(source, "dist", "landfall"), ["version"]);
    expect(stdout).toBe(`landfall ${manifest.version}\n`);
  }, 120_000);
});

function lacksBinary(): boolean {
  if (existsSync(BINARY)) return false;
  const text = "tests of the container image: make dist/landfall with npm run build";
  if (process.env["CI"] !== undefined) throw new Error(`Cannot run ${text}`);
  process.stderr.write(`\n*** SKIPPED: ${text} ***\n\n`);
  return true;
}

async function makeFolder(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  await mkdir(path);
  return path;
}

/** Who holds a Lease; `""` for one that was given back. */
function findHolder(lease: ApiObject | undefined): unknown {
  const spec = lease?.["spec"];
  return typeof spec === "object" && spec !== null && "holderIdentity" in spec
    ? spec["holderIdentity"]
    : undefined;
}

/** Paths of all files and links, `/usr/bin/ldd`. */
async function listFiles(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

function readStatus(pid: number): Promise<string> {
  return Bun.file(`/proc/${pid}/status`).text();
}

async function askReady(container: Container, port: number): Promise<true | undefined> {
  const over = await Promise.race([container.ended, Promise.resolve(undefined)]);
  if (over !== undefined) throw new Error(`The container ended: ${JSON.stringify(over)}`);
  // Made at the start, so nobody can know it.
  const tls = { rejectUnauthorized: false };
  const response = await fetch(`https://127.0.0.1:${port}/readyz`, { tls }).catch(() => undefined);
  return response?.ok ? true : undefined;
}
