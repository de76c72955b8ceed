/**
 * Packages of Debian for the base of the image: downloaded by apt-get, which checks their signatures.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ArchiveEntry, type ArchiveLink, readFolder } from "./archive.ts";
import { toDigest } from "./oci.ts";

/** A package. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Architecture in Debian's words: `amd64`, `arm64`, or `all`. */
  readonly architecture: string;
  /** Digest of the `.deb` file. */
  readonly digest: string;
  /** All control fields, as dpkg keeps them. */
  readonly control: string;
  /** Files and links, by absolute path without the first `/`. */
  readonly entries: readonly ArchiveEntry[];
}

/** The release of Debian. Its glibc is older than that of most hosts, and newer than what the binaries need. */
const SUITE = "bookworm";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const SOURCES = [
  `deb [signed-by=${KEYRING}] http://deb.debian.org/debian ${SUITE} main`,
  `deb [signed-by=${KEYRING}] http://deb.debian.org/debian-security ${SUITE}-security main`,
];
const BUFFER = 2 ** 28;
const run = promisify(execFile);

/**
 * Downloads the current versions of packages into a folder.
 *
 * @param architecture In Debian's words; it need not be that of this machine
 * @throws Error when apt-get is missing, or the archive does not answer
 */
export async function downloadPackages(
  names: readonly string[],
  architecture: string,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const state = await mkdtemp(join(tmpdir(), "landfall-apt-"));
  try {
    for (const name of ["lists/partial", "cache/archives/partial", "etc"]) {
      await mkdir(join(state, name), { recursive: true });
    }
    await writeFile(join(state, "sources.list"), `${SOURCES.join("\n")}\n`);
    await writeFile(join(state, "status"), "");
    // Separate settings, so that apt-get does not touch the packages of this machine.
    const options = [
      `APT::Architecture=${architecture}`,
      `APT::Architectures::=${architecture}`,
      `Dir::State=${state}`,
      `Dir::State::status=${join(state, "status")}`,
      `Dir::Cache=${join(state, "cache")}`,
      `Dir::Etc=${join(state, "etc")}`,
      `Dir::Etc::sourcelist=${join(state, "sources.list")}`,
      "Acquire::Languages=none",
      "APT::Sandbox::User=root",
    ].flatMap((option) => ["-o", option]);
    await run("apt-get", [...options, "update", "-q"], { maxBuffer: BUFFER });
    await run("apt-get", [...options, "download", "-q", ...names], { cwd: folder });
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

/** Reads all packages in a folder, sorted by name. */
export /** Reads all packages in a folder, sorted by name. */
async function readPackages(folder: string): Promise<DebianPackage[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".deb"));
  return await Promise.all(files.sort().map((name) => readPackage(join(folder, name))));
}

async function readPackage(path: string): Promise<DebianPackage> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-deb-"));
  try {
    const { stdout: control } = await run("dpkg-deb", ["--field", path]);
    await run("dpkg-deb", ["--extract", path, folder]);
    const field = (name: string): string =>
      new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? "";
    return {
      name: field("Package"),
      version: field("Version"),
      architecture: field("Architecture"),
      digest: toDigest(await readFile(path)),
      control,
      entries: [...(await readFolder(folder)), ...(await readLinks(folder))],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readLinks(folder: string): Promise<ArchiveLink[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = all
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    paths.map(async (path) => ({
      path: path.slice(folder.length + 1),
      target: await readlink(path),
    })),
  );
}
