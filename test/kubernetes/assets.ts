/**
 * Makes the programs of a real Kubernetes that tests run on: `bun test/kubernetes/assets.ts newest|oldest|VERSION`.
 *
 * It prints their folder, for KUBEBUILDER_ASSETS. Kubernetes and etcd publish their source as Go modules: what is not
 * there is built from it, which takes minutes.
 * @module
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { TESTED_WITH } from "../../lib/kube/api/version.ts";
import { toBound } from "../support/process/server_process.ts";
import { withLock } from "./lock.ts";

const MODULE = "k8s.io/kubernetes";
/** Packages by the name of their program. */
const PROGRAMS = {
  "kube-apiserver": `${MODULE}/cmd/kube-apiserver`,
  "kube-controller-manager": `${MODULE}/cmd/kube-controller-manager`,
  etcd: "go.etcd.io/etcd/server/v3",
} as const;
type ProgramName = keyof typeof PROGRAMS;
const NAMES: readonly ProgramName[] = ["kube-apiserver", "kube-controller-manager", "etcd"];
/** Clouds were compiled in up to 1.30 without the tag; sums of the parts of Kubernetes are in no file of its own. */
const FLAGS = ["-trimpath", "-tags=providerless", "-gcflags=all=-dwarf=false"];
const GO_ENV = { CGO_ENABLED: "0", GOFLAGS: "-mod=mod -buildvcs=false", GOWORK: "off" };
const UNFINISHED = ".building.";

/** The folder of a version, whether anything is in it or not. */
function toFolder(version: string): string {
  const { KUBE_ASSETS, XDG_CACHE_HOME } = process.env;
  const cache = XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(KUBE_ASSETS || join(cache, "kube-assets"), version);
}

/** Runs a program to its end; what it says goes to standard error. @throws Error when it fails */
async function run(command: readonly string[], cwd: string, env: object = {}): Promise<void> {
  const options = { cwd, env: { ...process.env, ...env } };
  const { file, args } = toBound(command);
  const child = Bun.spawn([file, ...args], { ...options, stdout: Bun.stderr, stderr: Bun.stderr });
  if ((await child.exited) !== 0) throw new Error(`Cannot run ${command.join(" ")}`);
}

/** Writes a module that has what Kubernetes was released with, its own parts as they were published beside it. */
async function writeModule(folder: string, version: string): Promise<void> {
  const go = ["go", "mod", "download", `${MODULE}@v${version}`];
  await run(go, folder, GO_ENV);
  const asked = Bun.spawn(["go", "env", "GOMODCACHE"], { cwd: folder });
  const cache = (await new Response(asked.stdout).text()).trim();
  const source = join(cache, `${MODULE}@v${version}`);
  const text = await readFile(join(source, "go.mod"), "utf8");
  const own = text
    .replace(/^module .*$/m, "module landfall.dev/assets")
    .replaceAll(/=> \.\/staging\/src\/(\S+)/g, `=> $1 v0.${version.replace("1.", "")}`);
  await writeFile(join(folder, "go.mod"), `${own}\nrequire ${MODULE} v${version}\n`);
  await writeFile(join(folder, "go.sum"), await readFile(join(source, "go.sum")));
}

/** Builds programs into a folder, in one call, since they share most packages. */
async function build(version: string, names: readonly ProgramName[]): Promise<void> {
  const folder = toFolder(version);
  const work = await mkdtemp(join(folder, UNFINISHED));
  try {
    await writeModule(work, version);
    const [major, minor] = version.split(".");
    const about = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
    const set = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
      Object.entries(about).map(([name, value]) => `-X ${path}.${name}=${value}`),
    );
    const linker = `-ldflags=-s -w ${set.join(" ")}`;
    const paths = names.map((name) => PROGRAMS[name]);
    await run(["go", "build", ...FLAGS, linker, "-o", "out/", ...paths], work, GO_ENV);
    for (const name of names) {
      const built = join(work, "out", name === "etcd" ? "server" : name);
      await rename(built, join(folder, name));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Makes what is missing, and returns the folder. Several processes may ask at once: the others wait for the first. */
async function make(version: string): Promise<string> {
  const folder = toFolder(version);
  const listMissing = (): ProgramName[] => NAMES.filter((name) => !existsSync(join(folder, name)));
  if (listMissing().length === 0) return folder;
  if (Bun.which("go") === null)
    throw new Error("Cannot build Kubernetes: there is no Go in PATH. Install Go 1.26 or newer");
  console.error(`Waits if another process makes Kubernetes ${version}`);
  const work = async (): Promise<void> => {
    const names = listMissing();
    if (names.length === 0) return;
    const startMs = performance.now();
    console.error(`Building ${names.join(", ")} of Kubernetes ${version}: this takes minutes`);
    await build(version, names);
    console.error(`Built in ${Math.round((performance.now() - startMs) / 1000)} s`);
  };
  await withLock(folder, { unfinished: UNFINISHED, work });
  return folder;
}

const [asked = "newest", ...more] = process.argv.slice(2);
const version = asked === "newest" || asked === "oldest" ? TESTED_WITH[asked] : asked;
try {
  if (!/^1\.\d+\.\d+$/.test(version) || more.length > 0)
    throw new Error(
      `Cannot make "${[asked, ...more].join(" ")}": it must be newest, oldest or a version like 1.37.2`,
    );
  console.log(await make(version));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
