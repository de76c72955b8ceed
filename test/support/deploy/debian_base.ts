/**
 * An image like `debian:12-slim` without a registry: debootstrap makes it from Debian's archive.
 * @module
 */
import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../sources.ts";
import type { ImageStore } from "./image.ts";

const run = promisify(execFile);
const SUITE = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
/** Made once. What is built on it updates its lists of packages first. */
const ARCHIVE = join(ROOT, ".cache", `debian-${SUITE}-${process.arch}.tar`);
const MAKE_TIMEOUT_MS = 400_000;

/** Builds the image. */
export async function buildDebian(store: ImageStore, tag: string): Promise<void> {
  await ensureArchive();
  const context = await mkdtemp(join(tmpdir(), "landfall-debian-"));
  try {
    await run("cp", ["--reflink=auto", ARCHIVE, join(context, "root.tar")]);
    await writeFile(join(context, "Containerfile"), 'FROM scratch\nADD root.tar /\nCMD ["bash"]\n');
    await store.build(tag, context);
  } finally {
    await rm(context, { recursive: true });
  }
}

async function ensureArchive(): Promise<void> {
  const isThere = await access(ARCHIVE).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const folder = await mkdtemp(join(tmpdir(), "landfall-debian-"));
  try {
    const root = join(folder, "root");
    const options = { timeout: MAKE_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    await run("debootstrap", ["--variant=minbase", SUITE, root, MIRROR], options);
    await rm(join(root, "var", "cache", "apt", "archives"), { recursive: true, force: true });
    const made = join(folder, "root.tar");
    await run("tar", ["--create", "--file", made, "--directory", root, "."], options);
    await mkdir(dirname(ARCHIVE), { recursive: true });
    // Whole or not at all, also if another process makes it, too.
    const beside = `${ARCHIVE}.${process.pid}`;
    await run("cp", [made, beside]);
    await rename(beside, ARCHIVE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
