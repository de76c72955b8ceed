/**
 * Debian's Ironic, unpacked into a folder of its own: this machine does not get its 300 packages.
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { access, mkdir, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const SUITE = "bookworm";
const PACKAGES = ["ironic-api", "ironic-conductor"] as const;
const MIRRORS = [
  `deb http://deb.debian.org/debian ${SUITE} main`,
  `deb http://deb.debian.org/debian-security ${SUITE}-security main`,
] as const;
const UNSHARE = "unshare";
/** Nobody reads these there. */
const LEFT_OUT = ["man", "locale", "doc"].map((one) => `path-exclude=/usr/share/${one}/*`);
/** Compiling to bytecode would take a third of the time. Python compiles what it uses at the first start. */
const COMPILER = "/usr/bin/py3compile";
const NO_COMPILER = [
  `chroot "$1" dpkg-divert --local --rename --add ${COMPILER}`,
  `ln -s /bin/true "$1${COMPILER}"`,
].join(" && ");
/** A busy machine takes five minutes. */
const MAKE_TIMEOUT_MS = 480_000;
const CACHE = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const ROOT = join(CACHE, "landfall", `ironic-${SUITE}`);

/** Whether Ironic cannot run here, which is said loudly. @throws Error instead when `CI` is set */
export function skipsIronic(): boolean {
  const problem = findProblem();
  if (problem === undefined) return false;
  const text = `Redfish with a real Ironic: ${problem}`;
  if (process.env["CI"] !== undefined) throw new Error(`Cannot test ${text}`);
  process.stderr.write(`\n*** SKIPPED: ${text} ***\n\n`);
  return true;
}

function findProblem(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can unpack and run Debian packages in a folder";
  const missing = ["mmdebstrap", UNSHARE].filter((one) => Bun.which(one) === null);
  if (missing.length > 0) return `install ${missing.join(" and ")}`;
  const isAllowed = spawnSync(UNSHARE, ["--mount", "--pid", "--fork", "true"]).status === 0;
  return isAllowed ? undefined : "this machine allows no namespaces";
}

/** How long {@linkcode ensureIronicRoot} takes at most, in milliseconds. */
export const IRONIC_ROOT_MS: number = MAKE_TIMEOUT_MS + 10_000;

/** The folder with Ironic. Made once for all runs; that takes some minutes and 80 MB of packages. */
export async function ensureIronicRoot(): Promise<string> {
  if (await isThere(ROOT)) return ROOT;
  const beside = `${ROOT}.${process.pid}`;
  await mkdir(dirname(ROOT), { recursive: true });
  try {
    const options = [...LEFT_OUT, "force-unsafe-io"].map((one) => `--dpkgopt=${one}`);
    const include = `--include=${PACKAGES.join()}`;
    // It lets no package start its service.
    const own = ["--mode=root", "--variant=apt", `--essential-hook=${NO_COMPILER}`];
    const args = [...own, include, ...options, SUITE, beside, ...MIRRORS];
    // It mounts parts of this machine there. In a name space of its own they are never seen here, nor removed with it.
    const limits = { timeout: MAKE_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    await run(UNSHARE, ["--mount", "mmdebstrap", ...args], limits);
    // Whole or not at all; another run may have been faster.
    if (!(await isThere(ROOT))) await rename(beside, ROOT);
  } finally {
    await run("rm", ["-rf", "--one-file-system", beside]);
  }
  return ROOT;
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
