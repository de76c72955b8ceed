/**
 * The binaries of a release: one file for each platform, the same bytes on every machine.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A platform of the binaries. */
interface Platform {
  /** Operating system and architecture as container images name them, and the C library. Part of the file name. */
  readonly name: string;
  /** Bun's name of it. Without `musl`, the Linux binaries need glibc 2.17 or newer. */
  readonly target: string;
}

/** All platforms of a release. */
export const PLATFORMS: readonly Platform[] = [
  { name: "darwin-arm64", target: "bun-darwin-arm64" },
  { name: "linux-amd64", target: "bun-linux-x64" },
  { name: "linux-amd64-musl", target: "bun-linux-x64-musl" },
  { name: "linux-arm64", target: "bun-linux-arm64" },
  { name: "linux-arm64-musl", target: "bun-linux-arm64-musl" },
];

/** Flags of `bun build`: the same as in `npm run build`, so that a release is what the tests ran. */
export const BUILD_FLAGS: readonly string[] = [
  "--compile",
  "--sourcemap",
  "--bytecode",
  "--bytecode-order=release/bytecode_order.txt",
  "--format=esm",
  "--splitting",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

// The binary contains this name, so it is the same for all platforms.
const NAME = "landfall";
/** Variables of the environment that would change the binary. */
const OWN_SETTINGS = /^(NODE_ENV|BUN_OPTIONS|BUN_JSC_.*|BUN_CONFIG_.*)$/;
const run = promisify(execFile);

/**
 * The commit of the binary, for `landfall version -o json`: `LANDFALL_COMMIT`, or the commit of `root` in git. Empty
 * without both.
 */
export async function readCommit(root: string): Promise<string> {
  const given = process.env["LANDFALL_COMMIT"];
  if (given !== undefined) return given;
  const args = ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"];
  return await run("git", args, { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
}

/**
 * Compiles the program in `root` for a platform. For other platforms, Bun downloads its runtime from the npm registry.
 *
 * @param commit As {@linkcode readCommit} gives it
 */
export async function buildBinary(
  root: string,
  { target }: Platform,
  commit: string,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-release-"));
  try {
    const file = join(folder, NAME);
    const args = ["build", ...BUILD_FLAGS, `--target=${target}`, "main.ts", "--outfile", file];
    args.push("--define", `LANDFALL_COMMIT=${JSON.stringify(commit)}`);
    const names = Object.keys(process.env).filter((name) => !OWN_SETTINGS.test(name));
    const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    await run(process.execPath, args, { cwd: root, env });
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
