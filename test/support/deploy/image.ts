/**
 * Container images without a registry: built by buildah on a base made of Debian's packages, run by crun.
 * @module
 */
import { execFile, spawn } from "node:child_process";
import {
  access,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
  mkdtemp,
  rename,
} from "node:fs/promises";
import { join, dirname } from "node:path";
import { promisify } from "node:util";
import type { Ended } from "../process/landfall_process.ts";
import { ROOT } from "../sources.ts";
import { saySkipped } from "../skip.ts";
import { tmpdir } from "node:os";

const run = promisify(execFile);
/** What Google's distroless `base` is made of, but for TLS libraries that Landfall does not use. */
const BASE_PACKAGES = ["libc6", "ca-certificates", "tzdata"] as const;
const PACKAGE_CACHE = join(ROOT, ".cache", "image-packages");
const TOOLS = ["buildah", "crun", "unshare", "apt-get", "dpkg-deb"] as const;
const BUILD_TIMEOUT_MS = 120_000;
const OUTPUT_MAX = 16 * 1024 * 1024;
const PID_POLL_MS = 20;
const PASSWD = [
  "root:x:0:0:root:/root:/sbin/nologin",
  "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin",
  "",
].join("\n");

/** What an image says about how it is run. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Labels?: Readonly<Record<string, string>>;
}

/** A running container. */
export interface Container {
  readonly ended: Promise<Ended>;
  /** Process ID, as the host sees it, of what is process 1 inside. */
  findPid(): Promise<number>;
}

/**
 * Whether images cannot be built and run here: some tool is missing, or we are not root. Says so loudly.
 *
 * @param more Programs that are needed as well
 * @throws Error instead when `CI` is set
 */
export function skipsImages(more: readonly string[] = []): boolean {
  const missing = [...TOOLS, ...more].filter((tool) => Bun.which(tool) === null);
  const reasons = missing.map((tool) => `${tool} is not installed`);
  if (process.getuid?.() !== 0) reasons.push("only root may");
  if (reasons.length === 0) return false;
  const text = `tests of the container image: ${reasons.join(", ")}`;
  saySkipped(text);
  return true;
}

/** Images and containers of a test, all below one folder. */
export class ImageStore {
  readonly #folder: string;
  readonly #flags: readonly string[];

  /** @param folder Empty; belongs to the store */
  constructor(folder: string) {
    this.#folder = folder;
    this.#flags = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  }

  /** Makes an image of a base from Debian's packages, which are downloaded once into `.cache/`. */
  async buildBase(tag: string): Promise<void> {
    const context = join(this.#folder, "base");
    const root = join(context, "root");
    await mkdir(root, { recursive: true });
    for (const file of await fetchPackages()) await run("dpkg-deb", ["-x", file, root]);
    await completeBase(root);
    await writeFile(join(context, "Containerfile"), "FROM scratch\nCOPY root /\n");
    await this.build(tag, context);
  }

  /** Builds an image of the Containerfile in a folder, or of another one. Pulls nothing. */
  async build(
    tag: string,
    context: string,
    options: {
      readonly args?: Readonly<Record<string, string>>;
      readonly containerfile?: string;
    } = {},
  ): Promise<void> {
    const file = options.containerfile ?? join(context, "Containerfile");
    const values = Object.entries(options.args ?? {}).map(([key, value]) => `${key}=${value}`);
    const args = values.flatMap((value) => ["--build-arg", value]);
    const flags = ["--isolation=chroot", "--pull-never", "--layers=false", "--file", file];
    await this.#buildah(["build", ...flags, ...args, "--tag", tag, context]);
  }

  /** Takes an image from elsewhere. @param architecture Default: that of this machine. @returns Its ID */
  async pull(from: string, architecture?: string): Promise<string> {
    const platform = architecture === undefined ? [] : [`--arch=${architecture}`];
    return await this.#buildah(["pull", "--quiet", "--policy=always", ...platform, from]);
  }

  /** What an image says about itself. */
  async readConfig(tag: string): Promise<ImageConfig> {
    const text = await this.#buildah(["inspect", "--type=image", tag]);
    const { OCIv1 }: { readonly OCIv1: { readonly config: ImageConfig } } = JSON.parse(text);
    return OCIv1.config;
  }

  /** A folder with the files of an image. */
  async mount(tag: string): Promise<string> {
    const container = await this.#buildah(["from", "--pull-never", tag]);
    return await this.#buildah(["mount", container]);
  }

  /**
   * Starts the entry point of an image as its user: read-only root, no capability, no new privileges, process 1 of
   * its own process namespace. It shares the network with the host.
   *
   * @param options.mounts Folders of the host by path inside, read-only. `tmp` says whether /tmp may be written to
   */
  async start(
    tag: string,
    args: readonly string[],
    options: { readonly tmp?: boolean; readonly mounts?: Readonly<Record<string, string>> } = {},
  ): Promise<Container> {
    return await this.startBundle(tag, (image, root) => toBundle(image, root, args, options));
  }

  /**
   * Starts a container of an image.
   *
   * @param toConfig Makes the `config.json` of an OCI bundle from the image and the folder with its files
   */
  async startBundle(
    tag: string,
    toConfig: (image: ImageConfig, root: string) => object,
  ): Promise<Container> {
    const id = `landfall-test-${crypto.randomUUID()}`;
    const bundle = join(this.#folder, id);
    await mkdir(bundle);
    const config = toConfig(await this.readConfig(tag), await this.mount(tag));
    await writeFile(join(bundle, "config.json"), JSON.stringify(config));
    const pidPath = join(bundle, "pid");
    const crun = ["--root", join(this.#folder, "crun"), "--cgroup-manager=disabled"];
    const words = ["crun", ...crun, "run", "--bundle", bundle, "--pid-file", pidPath, id];
    // crun refuses cgroups v1 with v2 beside it. It needs none of them here.
    const script = 'umount -l /sys/fs/cgroup/unified 2>/dev/null; exec "$@"';
    const ended = collect(["unshare", "--mount", "sh", "-c", script, "sh", ...words]);
    return { ended, findPid: () => waitForPid(pidPath, ended) };
  }

  /** Removes everything. */
  async remove(): Promise<void> {
    await this.#buildah(["rm", "--all"]);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #buildah(args: readonly string[]): Promise<string> {
    // The driver that works in any file system.
    const all = [...this.#flags, "--storage-driver=vfs", ...args];
    const limits = { timeout: BUILD_TIMEOUT_MS, maxBuffer: OUTPUT_MAX };
    const { stdout } = await run("buildah", all, limits);
    return stdout.trim();
  }
}

async function fetchPackages(): Promise<readonly string[]> {
  const list = async (): Promise<readonly string[]> => {
    const files = await readdir(PACKAGE_CACHE).catch(() => []);
    return files.filter((file) => file.endsWith(".deb")).map((file) => join(PACKAGE_CACHE, file));
  };
  const cached = await list();
  const isThere = (name: string): boolean => cached.some((path) => path.includes(`/${name}_`));
  const missing = BASE_PACKAGES.filter((name) => !isThere(name));
  if (missing.length === 0) return cached;
  await mkdir(PACKAGE_CACHE, { recursive: true });
  const options = { cwd: PACKAGE_CACHE, timeout: BUILD_TIMEOUT_MS };
  const download = (): Promise<unknown> => run("apt-get", ["download", ...missing], options);
  await download().catch(async () => {
    // Lists that are not there yet, or that name versions which are gone.
    await run("apt-get", ["update", "-q"], options);
    await download();
  });
  return await list();
}

/** What installation scripts and other packages do in a real base. */
async function completeBase(root: string): Promise<void> {
  for (const folder of ["lib", "lib64"]) {
    const isInUsr = await exists(join(root, "usr", folder));
    if (isInUsr && !(await exists(join(root, folder)))) {
      await symlink(join("usr", folder), join(root, folder));
    }
  }
  for (const folder of ["proc", "dev", "tmp", "home/nonroot", "etc/ssl/certs"]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await writeFile(join(root, "etc", "passwd"), PASSWD);
  const authorities = join(root, "usr", "share", "ca-certificates", "mozilla");
  const texts: string[] = [];
  for (const file of await readdir(authorities)) {
    texts.push(await readFile(join(authorities, file), "utf8"));
  }
  await writeFile(join(root, "etc", "ssl", "certs", "ca-certificates.crt"), texts.join(""));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function toBundle(
  image: ImageConfig,
  root: string,
  args: readonly string[],
  options: { readonly tmp?: boolean; readonly mounts?: Readonly<Record<string, string>> },
): object {
  const [uid = 0, gid = 0] = (image.User ?? "").split(":").map(Number);
  const binds = Object.entries(options.mounts ?? {}).map(([destination, source]) => ({
    destination,
    source,
    type: "bind",
    options: ["bind", "ro"],
  }));
  const tmp = { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777"] };
  return {
    ociVersion: "1.0.2",
    root: { path: root, readonly: true },
    process: {
      user: { uid, gid },
      args: [...(image.Entrypoint ?? []), ...args],
      env: image.Env,
      cwd: "/",
      noNewPrivileges: true,
      capabilities: { bounding: [], effective: [], permitted: [] },
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      ...(options.tmp === true ? [tmp] : []),
      ...binds,
    ],
    linux: { namespaces: ["pid", "mount", "ipc", "uts"].map((type) => ({ type })) },
  };
}

function collect([command = "", ...args]: readonly string[]): Promise<Ended> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (texts.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (texts.stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, ...texts }));
  });
}

async function waitForPid(path: string, ended: Promise<Ended>): Promise<number> {
  const state: { over?: Ended } = {};
  void ended.then((how) => (state.over = how));
  for (;;) {
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    if (pid > 0) return pid;
    if (state.over !== undefined) throw new Error(`Cannot start container: ${state.over.stderr}`);
    await Bun.sleep(PID_POLL_MS);
  }
}

/** Copies a folder, its file modes included. */
export function copyFolder(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, verbatimSymlinks: true });
}

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
