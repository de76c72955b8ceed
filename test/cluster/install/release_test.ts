/**
 * A release, made twice: here, and from a copy of the sources somewhere else.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import manifest from "../../../package.json" with { type: "json" };
import { readFolder } from "../../../release/archive.ts";
import { BUILD_FLAGS } from "../../../release/binaries.ts";
import { ImageStore, skipsImages } from "../../support/deploy/image.ts";
import { LayoutReader, startRegistry } from "../../support/deploy/layouts.ts";
import { findHelm } from "../../support/kube/kubectl.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const EPOCH = "1700000000";
const NAME = `landfall-${manifest.version}`;
const SOURCES =
  "main.ts lib deploy release LICENSE package.json package-lock.json tsconfig.json bunfig.toml";
/** Debian's libc6-arm64-cross. */
const ARM64_LIBC = "/usr/aarch64-linux-gnu";

/** As git would name it; one of the two releases is made outside git. */
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

const isArmPossible = await canRunArm64();
let folder = "";
let here = "";
let elsewhere = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-release-test-"));
  here = await release(ROOT, "here");
  const copy = join(folder, "a copy");
  for (const name of SOURCES.split(" "))
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await copyPackages(join(copy, "node_modules"));
  // One after the other: side by side they would share what one of them fetches.
  elsewhere = await release(copy, "elsewhere");
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function release(root: string, name: string): Promise<string> {
  const out = join(folder, name);
  const { PATH, HOME } = process.env;
  // Another umask and another time zone change nothing either.
  const umask = name === "here" ? "022" : "077";
  // The second one with the packages of Debian that the first one found.
  const packages = name === "here" ? "" : `--packages=${join(ROOT, ".cache/release-packages")}`;
  const command = `umask ${umask}; exec "$0" release/mod.ts --out="$1" ${packages}`;
  const TZ = name === "here" ? "UTC" : "Asia/Kathmandu";
  const env = { PATH, HOME, TZ, SOURCE_DATE_EPOCH: EPOCH, LANDFALL_COMMIT: COMMIT };
  await run("sh", ["-c", command, process.execPath, out], { cwd: root, env });
  return out;
}

/** By links where the file system can: they are hundreds of megabytes. */
async function copyPackages(to: string): Promise<void> {
  const from = join(ROOT, "node_modules");
  await run("cp", ["--archive", "--link", from, to]).catch(async () => {
    await rm(to, { recursive: true, force: true });
    await run("cp", ["--archive", from, to]);
  });
}

test("a release holds binaries, manifests, chart, bill of materials and their sums", async () => {
  expect((await readdir(here)).sort()).toEqual([
    "SHA256SUMS",
    `${NAME}-chart.oci.tar`,
    `${NAME}-chart.tgz`,
    `${NAME}-darwin-arm64`,
    `${NAME}-image.cdx.json`,
    `${NAME}-image.digest`,
    `${NAME}-image.tar`,
    `${NAME}-linux-amd64`,
    `${NAME}-linux-amd64-musl`,
    `${NAME}-linux-arm64`,
    `${NAME}-linux-arm64-musl`,
    `${NAME}-manifests.tar.gz`,
    `${NAME}.cdx.json`,
  ]);
});

test("two releases of the same sources are the same byte for byte", async () => {
  for (const name of await readdir(here)) {
    const [one, other] = [await readFile(join(here, name)), await readFile(join(elsewhere, name))];
    expect(one.equals(other), name).toBe(true);
  }
});

test("SHA256SUMS are right, and cover everything", async () => {
  const { stdout } = await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: here });
  const names = (await readdir(here)).filter((name) => name !== "SHA256SUMS");
  expect(stdout.trim().split("\n").sort()).toEqual(names.map((name) => `${name}: OK`).sort());
});

test("the binary for linux-amd64 tells the version of package.json", async () => {
  if (process.arch !== "x64") return;
  const { stdout } = await run(join(here, `${NAME}-linux-amd64`), ["--version"]);
  expect(stdout).toBe(`landfall ${manifest.version}\n`);
});

test("the binary for linux-amd64 knows its commit", async () => {
  if (process.arch !== "x64") return;
  const args = ["version", "--output=json"];
  const { stdout } = await run(join(here, `${NAME}-linux-amd64`), args);
  expect(JSON.parse(stdout)).toMatchObject({ version: manifest.version, commit: COMMIT });
});

test("the binary for darwin-arm64 is one", async () => {
  const file = await readFile(join(here, `${NAME}-darwin-arm64`));
  // A 64-bit Mach-O file, and the processor type of arm64 (mach-o/loader.h, mach/machine.h).
  expect([file.readUInt32LE(0), file.readUInt32LE(4)]).toEqual([0xfeedfacf, 0x0100000c]);
});

// Numbers of the processors in elf.h.
test.each([
  ["amd64", "x86_64", 62],
  ["arm64", "aarch64", 183],
])(
  "the binary for linux-%s-musl is one for that processor and musl",
  async (name, arch, machine) => {
    const file = await readFile(join(here, `${NAME}-linux-${name}-musl`));
    expect([file.toString("latin1", 1, 4), file.readUInt16LE(18)]).toEqual(["ELF", machine]);
    expect(file.includes(`/lib/ld-musl-${arch}.so.1`)).toBe(true);
  },
);

test.skipIf(!isArmPossible)("the binary for linux-arm64 starts and tells its version", async () => {
  const binary = join(here, `${NAME}-linux-arm64`);
  const { stdout } = await run("qemu-aarch64", ["-L", ARM64_LIBC, binary, "--version"]);
  expect(stdout).toBe(`landfall ${manifest.version}\n`);
});

test("binaries are compiled as npm run build compiles them", () => {
  const [, line = ""] = manifest.scripts.build.split("bun build ");
  expect(line).toStartWith(`${BUILD_FLAGS.join(" ")} main.ts `);
});

test("the bill of materials lists exactly the packages at run time, and Bun", async () => {
  const bill = await readBill(`${NAME}.cdx.json`);
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const expected = findClosure(lock.packages, Object.keys(manifest.dependencies));
  expected.add(`bun@${manifest.devDependencies.bun}`);
  const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
  expect(listed.sort()).toEqual([...expected].sort());
  expect(bill.metadata.timestamp).toBe("2023-11-14T22:13:20.000Z");
  expect(bill.metadata.component).toMatchObject({
    name: "landfall",
    version: manifest.version,
    type: "application",
  });
  expect(JSON.stringify(bill)).not.toContain(tmpdir());
});

test("the bill of materials of the image lists the packages of Debian as well", async () => {
  const [binaries, image] = await Promise.all(
    [`${NAME}.cdx.json`, `${NAME}-image.cdx.json`].map(readBill),
  );
  const known = new Set(binaries?.components.map(({ name }) => name));
  const more = image?.components.filter(({ name }) => !known.has(name)) ?? [];
  expect(more.map(({ name }) => name)).toEqual([
    "base-files",
    "base-files",
    "ca-certificates",
    "libc6",
    "libc6",
  ]);
  for (const { purl, hashes } of more) {
    expect(purl).toMatch(/^pkg:deb\/debian\/[a-z0-9-]+@[^/]+\?arch=(all|amd64|arm64)$/);
    expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{64}$/);
  }
});

describe.skipIf(skipsImages(["skopeo"]))("the image", () => {
  let store: ImageStore;
  let digest = "";
  const layout = (): string => `oci-archive:${join(here, `${NAME}-image.tar`)}`;
  beforeAll(async () => {
    store = new ImageStore(await mkdtemp(join(folder, "store-")));
    digest = (await readFile(join(here, `${NAME}-image.digest`), "utf8")).trim();
  });
  afterAll(() => store?.remove());

  test("is copied by skopeo for all platforms, and keeps its digest", async () => {
    const copy = join(folder, "copy");
    await run("skopeo", ["copy", "--all", "--quiet", layout(), `oci:${copy}:copied`]);
    const { manifests } = JSON.parse(await readFile(join(copy, "index.json"), "utf8"));
    expect(manifests).toMatchObject([{ digest }]);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    // What a registry serves has the same digest, which the chart pins.
    const files = await readFolder(copy);
    await using registry = startRegistry(new LayoutReader(files), "copied");
    const from = `docker://${registry.host}/any/landfall@${digest}`;
    const { stdout } = await run("skopeo", ["inspect", "--raw", "--tls-verify=false", from]);
    expect(`sha256:${createHash("sha256").update(stdout).digest("hex")}`).toBe(digest);
  });

  test("is taken by buildah, and prints its version as user 65532 with nothing to write to", async () => {
    if (process.arch !== "x64") return;
    const image = await store.pull(layout());
    expect(await store.readConfig(image)).toMatchObject({
      User: "65532:65532",
      Labels: { "org.opencontainers.image.revision": COMMIT },
    });
    const { ended } = await store.start(image, ["version"]);
    expect(await ended).toEqual({ code: 0, stdout: `landfall ${manifest.version}\n`, stderr: "" });
    const demo = await store.start(image, ["demo", "--once"], { tmp: true });
    expect(await demo.ended).toMatchObject({ code: 0 });
  }, 120_000);

  test.skipIf(!isArmPossible)("for arm64 has the C library that its binary needs", async () => {
    const root = await store.mount(await store.pull(layout(), "arm64"));
    const binary = join(root, "usr/local/bin/landfall");
    const { stdout } = await run("qemu-aarch64", ["-L", root, binary, "--version"]);
    expect(stdout).toBe(`landfall ${manifest.version}\n`);
  });

  test("names no program but Landfall", async () => {
    const files = await readFolder(await store.mount(await store.pull(layout())));
    const runnable = files.filter(({ isExecutable }) => isExecutable).map(({ path }) => path);
    expect(runnable.filter((path) => !/\.so[.\d]*$/.test(path))).toEqual([
      "usr/local/bin/landfall",
    ]);
  });
});

describe("the archives", () => {
  test("the manifests are those of deploy/", async () => {
    const { stdout } = await run("tar", ["-tzf", join(here, `${NAME}-manifests.tar.gz`)]);
    const paths = stdout.trim().split("\n");
    for (const path of [
      "LICENSE",
      "manifests/deployment.yaml",
      "monitoring/landfall.rules.yaml",
      "static-pod/landfall.yaml",
      "systemd/landfall.service",
    ]) {
      expect(paths).toContain(`${NAME}/${path}`);
    }
  });

  test("the chart is pulled by helm from a registry that has its layout", async () => {
    const helm = await findHelm();
    if (helm === undefined) return;
    const to = await mkdtemp(join(folder, "chart-"));
    const tar = join(here, `${NAME}-chart.oci.tar`);
    await run("tar", ["-xf", tar, "-C", to]);
    await using registry = startRegistry(new LayoutReader(await readFolder(to)), manifest.version);
    const from = `oci://${registry.host}/charts/landfall`;
    const place = ["--version", manifest.version, "--destination", to];
    await run(helm, ["pull", from, ...place, "--plain-http"]);
    const [pulled, packed] = await Promise.all(
      [join(to, `${NAME}.tgz`), join(here, `${NAME}-chart.tgz`)].map((path) => readFile(path)),
    );
    expect(pulled).toEqual(packed ?? Buffer.alloc(0));
  });

  test("the chart is one to helm, with the version of package.json", async () => {
    const helm = await findHelm();
    if (helm === undefined) return;
    const { stdout } = await run(helm, ["show", "chart", join(here, `${NAME}-chart.tgz`)]);
    expect(stdout).toContain(`\nversion: ${manifest.version}\n`);
    expect(stdout).toContain(`\nappVersion: ${manifest.version}\n`);
  });
});

interface Bill {
  readonly metadata: { readonly timestamp: string; readonly component: unknown };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl?: string;
    readonly hashes?: readonly { readonly content: string }[];
  }[];
}

async function readBill(name: string): Promise<Bill> {
  return JSON.parse(await readFile(join(here, name), "utf8"));
}

interface Locked {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** All that these packages need, found the way Node finds it: the nearest `node_modules` first. */
function findClosure(
  packages: Readonly<Record<string, Locked>>,
  names: readonly string[],
): Set<string> {
  const seen = new Set<string>();
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    let base = from;
    while (base !== "" && !packages[`${base}/node_modules/${name}`]) {
      base = base.slice(0, Math.max(base.lastIndexOf("/node_modules/"), 0));
    }
    const path = `${base === "" ? "" : `${base}/`}node_modules/${name}`;
    const one = packages[path];
    if (!one || seen.has(path)) return;
    seen.add(path);
    found.add(`${name}@${one.version}`);
    for (const next of Object.keys({ ...one.dependencies, ...one.optionalDependencies })) {
      visit(next, path);
    }
  };
  for (const name of names) visit(name, "");
  return found;
}

async function canRunArm64(): Promise<boolean> {
  const problem = await run("qemu-aarch64", ["--version"]).then(
    () => (existsSync(ARM64_LIBC) ? undefined : `there is not a ${ARM64_LIBC} (libc6-arm64-cross)`),
    () => "there is no qemu-aarch64 (qemu-user)",
  );
  if (problem === undefined) return true;
  if (process.env["CI"]) throw new Error(`Cannot test the binary for arm64: ${problem}`);
  process.stderr.write(`\n*** SKIPPED: the binary for arm64: ${problem}. ***\n\n`);
  return false;
}
