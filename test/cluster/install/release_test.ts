/**
 * A release, made twice: here, and from a copy of the sources somewhere else.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import manifest from "../../../package.json" with { type: "json" };
import { BUILD_FLAGS } from "../../../release/binaries.ts";
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
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function release(root: string, name: string): Promise<string> {
  const out = join(folder, name);
  const { PATH, HOME } = process.env;
  // Another umask and another time zone change nothing either.
  const command = `umask ${name === "here" ? "022" : "077"}; exec "$0" release/mod.ts --out="$1"`;
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
    `${NAME}-chart.tgz`,
    `${NAME}-darwin-arm64`,
    `${NAME}-linux-amd64`,
    `${NAME}-linux-arm64`,
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

const isArmPossible = await canRunArm64();
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
  const bill = await readBill();
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
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

async function readBill(): Promise<Bill> {
  return JSON.parse(await readFile(join(here, `${NAME}.cdx.json`), "utf8"));
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
    () => (existsSync(ARM64_LIBC) ? undefined : `there is no ${ARM64_LIBC} (libc6-arm64-cross)`),
    () => "there is no qemu-aarch64 (qemu-user)",
  );
  if (problem === undefined) return true;
  if (process.env["CI"]) throw new Error(`Cannot test the binary for arm64: ${problem}`);
  process.stderr.write(`\n*** SKIPPED: the binary for arm64: ${problem}. ***\n\n`);
  return false;
}
