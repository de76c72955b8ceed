/**
 * `npm run release`: everything that a version is published as, the same byte for byte from the same commit.
 *
 * Flags: `--out=FOLDER` (default dist/release; what is in it is lost). The time in archives is that of the commit, or
 * `SOURCE_DATE_EPOCH` in seconds (https://reproducible-builds.org/specs/source-date-epoch). Binaries know their commit:
 * outside git give it as `LANDFALL_COMMIT`.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { VERSION } from "../lib/cli/version.ts";
import { createArchive, readFolder } from "./archive.ts";
import { createBillOfMaterials } from "./bill_of_materials.ts";
import { buildBinary, PLATFORMS, readCommit } from "./binaries.ts";

const ROOT = resolve(import.meta.dir, "..");
/** Folders of deploy/ that people copy from. */
const MANIFESTS = ["manifests", "monitoring", "static-pod", "systemd"] as const;
const NAME = `landfall-${VERSION}`;

const { values } = parseArgs({
  options: { out: { type: "string", default: join(ROOT, "dist", "release") } },
});
const out = resolve(values.out);
const epochSeconds = await readEpoch();
const sums = new Map<string, string>();

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const commit = await readCommit(ROOT);
for (const platform of PLATFORMS) {
  await put(`${NAME}-${platform.name}`, await buildBinary(ROOT, platform, commit), 0o755);
}
await put(`${NAME}-manifests.tar.gz`, await createManifests());
await put(`${NAME}-chart.tgz`, await createChart());
await put(`${NAME}.cdx.json`, await createBillOfMaterials(ROOT, epochSeconds));
const lines = [...sums].sort().map(([name, sum]) => `${sum}  ${name}\n`);
await put("SHA256SUMS", Buffer.from(lines.join("")));

async function put(name: string, content: Buffer, mode = 0o644): Promise<void> {
  const path = join(out, name);
  await writeFile(path, content);
  await chmod(path, mode);
  sums.set(name, createHash("sha256").update(content).digest("hex"));
  process.stdout.write(`${sums.get(name)}  ${name}\n`);
}

async function createManifests(): Promise<Buffer> {
  const license = { path: `${NAME}/LICENSE`, content: await readFile(join(ROOT, "LICENSE")) };
  const folders = MANIFESTS.map((folder) =>
    readFolder(join(ROOT, "deploy", folder), `${NAME}/${folder}`),
  );
  return createArchive([license, ...(await Promise.all(folders)).flat()], epochSeconds);
}

/** As `helm package` does it: everything below the chart's own name. */
async function createChart(): Promise<Buffer> {
  const files = await readFolder(join(ROOT, "deploy", "chart"), "landfall");
  const about = files.find(({ path }) => path === "landfall/Chart.yaml")?.content.toString();
  for (const key of ["version", "appVersion"]) {
    if (!about?.includes(`\n${key}: ${VERSION}\n`)) {
      throw new Error(`Chart.yaml has another ${key} than package.json: run npm run deploy`);
    }
  }
  return createArchive(files, epochSeconds);
}

async function readEpoch(): Promise<number> {
  const given = process.env["SOURCE_DATE_EPOCH"];
  const seconds =
    given ??
    (await promisify(execFile)("git", ["log", "-1", "--format=%ct"], { cwd: ROOT })).stdout;
  if (!/^\d+\s*$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is no number: "${seconds}"`);
  return Number(seconds);
}
