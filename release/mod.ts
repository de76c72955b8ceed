/**
 * `npm run release`: all files of a release. The same commit and the same packages of Debian give the same bytes.
 *
 * Flags:
 * - `--out=FOLDER` (default dist/release; its content is deleted first)
 * - `--packages=FOLDER`: packages of Debian for the image, in its folders amd64 and arm64 (default: the current ones,
 *   downloaded into `.cache/release-packages`)
 * - `--key=FILE`: a private SSH key, with which ssh-keygen signs SHA256SUMS (default: nothing is signed)
 *
 * The time in archives is that of the commit, or `SOURCE_DATE_EPOCH` in seconds
 * (https://reproducible-builds.org/specs/source-date-epoch). Outside git, set `LANDFALL_COMMIT` to the commit as well.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { VERSION } from "../lib/cli/version.ts";
import { createArchive, createTar, readFolder } from "./archive.ts";
import { createBillOfMaterials } from "./bill_of_materials.ts";
import { buildBinary, PLATFORMS, readCommit } from "./binaries.ts";
import { createChart, createChartLayout } from "./chart.ts";
import { type DebianPackage, downloadPackages, readPackages } from "./debian_packages.ts";
import { createImage } from "./image.ts";
import { BASE_PACKAGES, createImageBase } from "./image_base.ts";
import { signSums } from "./sign.ts";

const ROOT = resolve(import.meta.dir, "..");
/** Folders of deploy/ that people copy from. */
const MANIFESTS = ["manifests", "monitoring", "static-pod", "systemd"] as const;
/** Platforms of the image. */
const ARCHITECTURES = ["amd64", "arm64"] as const;
const NAME = `landfall-${VERSION}`;

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "dist", "release") },
    packages: { type: "string" },
    key: { type: "string" },
  },
});
const out = resolve(values.out);
const epochSeconds = await readEpoch();
const license = await readFile(join(ROOT, "LICENSE"));
const sums = new Map<string, string>();

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const commit = await readCommit(ROOT);
const binaries = new Map<string, Buffer>();
for (const platform of PLATFORMS) {
  const binary = await buildBinary(ROOT, platform, commit);
  binaries.set(platform.name, binary);
  await put(`${NAME}-${platform.name}`, binary, 0o755);
}
await put(`${NAME}-manifests.tar.gz`, await createManifests());
const chart = await createChart(ROOT, VERSION, epochSeconds);
await put(`${NAME}-chart.tgz`, chart);
await put(
  `${NAME}-chart.oci.tar`,
  createTar(await createChartLayout(ROOT, chart, epochSeconds), epochSeconds),
);
const packages = await findPackages();
await putImage();
await put(`${NAME}.cdx.json`, await createBillOfMaterials(ROOT, epochSeconds));
await put(
  `${NAME}-image.cdx.json`,
  await createBillOfMaterials(ROOT, epochSeconds, listUnique([...packages.values()].flat())),
);
const lines = [...sums].sort().map(([name, sum]) => `${sum}  ${name}\n`);
await put("SHA256SUMS", Buffer.from(lines.join("")));
if (values.key !== undefined) signSums(out, resolve(values.key));

async function put(name: string, content: Buffer, mode = 0o644): Promise<void> {
  const path = join(out, name);
  await writeFile(path, content);
  await chmod(path, mode);
  sums.set(name, createHash("sha256").update(content).digest("hex"));
  process.stdout.write(`${sums.get(name)}  ${name}\n`);
}

async function createManifests(): Promise<Buffer> {
  const folders = MANIFESTS.map((folder) =>
    readFolder(join(ROOT, "deploy", folder), `${NAME}/${folder}`),
  );
  const files = [{ path: `${NAME}/LICENSE`, content: license }];
  return createArchive([...files, ...(await Promise.all(folders)).flat()], epochSeconds);
}

async function putImage(): Promise<void> {
  const platforms = ARCHITECTURES.map((architecture) => ({
    architecture,
    base: createImageBase(packages.get(architecture) ?? []),
    binary: binaries.get(`linux-${architecture}`) ?? Buffer.alloc(0),
  }));
  const options = { version: VERSION, revision: commit || "unknown", license, epochSeconds };
  const image = createImage(platforms, options);
  await put(`${NAME}-image.tar`, createTar(image.files, epochSeconds));
  await put(`${NAME}-image.digest`, Buffer.from(`${image.digest}\n`));
}

async function findPackages(): Promise<ReadonlyMap<string, readonly DebianPackage[]>> {
  const cache = join(ROOT, ".cache", "release-packages");
  const folder = values.packages === undefined ? cache : resolve(values.packages);
  if (values.packages === undefined) await rm(cache, { recursive: true, force: true });
  const found = new Map<string, readonly DebianPackage[]>();
  for (const architecture of ARCHITECTURES) {
    const path = join(folder, architecture);
    if (values.packages === undefined) await downloadPackages(BASE_PACKAGES, architecture, path);
    found.set(architecture, await readPackages(path));
  }
  return found;
}

/** Packages for all architectures are in both folders. */
function listUnique(all: readonly DebianPackage[]): readonly DebianPackage[] {
  return [...new Map(all.map((one) => [one.digest, one])).values()];
}

async function readEpoch(): Promise<number> {
  const given = process.env["SOURCE_DATE_EPOCH"];
  const args = ["log", "-1", "--format=%ct"];
  const seconds = given ?? (await promisify(execFile)("git", args, { cwd: ROOT })).stdout;
  if (!/^\d+\s*$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is not a number: "${seconds}"`);
  return Number(seconds);
}
