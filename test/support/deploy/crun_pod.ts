/**
 * A pod with one container as a kubelet runs it, by crun: its volumes with their owners and modes, its user, its
 * environment, a root that nobody may write to, no capability.
 * @module
 */
import type { V1PodSpec, V1Volume } from "@kubernetes/client-node";
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Raw } from "../../../lib/kube/kinds/resource.ts";
import type { Ended } from "../process/landfall_process.ts";
import type { ImageConfig, ImageStore } from "./image.ts";

const run = promisify(execFile);
const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const DEFAULT_MODE = 0o644;
const FOLDER_MODE = 0o2777;
/** The group of terminals in Debian. */
const TTY_GROUP = 5;
const EXEC_TIMEOUT_MS = 60_000;

type Container = Raw<V1PodSpec>["containers"][number];

/** Files by their names. */
export type Files = Readonly<Record<string, string>>;

/** What a pod is made of, and where it runs. */
interface CrunPodOptions {
  readonly store: ImageStore;
  /** The image in the store; the one that the pod names is not pulled. */
  readonly tag: string;
  readonly spec: Raw<V1PodSpec>;
  /** By their names. */
  readonly configMaps: Readonly<Record<string, Files>>;
  readonly secrets: Readonly<Record<string, Files>>;
  /** Files of its service account. */
  readonly account: Files;
  /** What Kubernetes and its webhooks add to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** More lines of /etc/hosts. */
  readonly hosts: readonly string[];
  /** The file of its network namespace. */
  readonly network: string;
}

/** A running pod. */
export interface CrunPod {
  readonly ended: Promise<Ended>;
  /** Process ID, as this machine sees it, of what is process 1 inside. */
  readonly pid: number;
  /** Runs a command inside, as a hook or a probe does. @returns What it printed */
  exec(command: readonly string[]): Promise<string>;
  /** Ends it at once, and removes what it had. */
  stop(): Promise<void>;
}

/** Starts a pod. */
export async function startCrunPod(options: CrunPodOptions): Promise<CrunPod> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-pod-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await chmod(folder, 0o755);
    const user = toUser(options.spec);
    const mounts = await createMounts(options, folder, user.group);
    const toConfig = (image: ImageConfig, root: string): object =>
      toBundle({ options, image, root, mounts, user });
    const { ended, findPid } = await options.store.startBundle(options.tag, toConfig);
    const pid = await findPid();
    const stop = async (): Promise<void> => {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      await ended;
      await remove();
    };
    return { ended, pid, stop, exec: (command) => execInside(pid, user, command) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Whom the programs of a pod run as, and the group of its volumes. */
interface User {
  readonly uid: number;
  readonly gid: number;
  readonly group: number;
}

function toUser({ securityContext }: Raw<V1PodSpec>): User {
  const { runAsUser: uid, runAsGroup: gid, fsGroup: group = gid } = securityContext ?? {};
  if (uid === undefined || gid === undefined || group === undefined) {
    throw new TypeError("Cannot start a pod without a user");
  }
  return { uid, gid, group };
}

function findContainer({ containers }: Raw<V1PodSpec>): Container {
  const [container] = containers;
  if (container === undefined) throw new TypeError("Cannot start a pod without a container");
  return container;
}

/** Makes the volumes, and says where they are in the container. */
async function createMounts(
  options: CrunPodOptions,
  folder: string,
  group: number,
): Promise<readonly object[]> {
  const volumes = new Map<string, string>();
  for (const volume of options.spec.volumes ?? []) {
    volumes.set(volume.name, await createVolume(options, join(folder, volume.name), volume, group));
  }
  const { volumeMounts = [] } = findContainer(options.spec);
  const binds = volumeMounts.map(({ name, mountPath, subPath = "", readOnly }) => {
    const source = volumes.get(name);
    if (source === undefined) throw new TypeError(`Cannot mount ${name}: there is no such volume`);
    return toBind(join(source, subPath), mountPath, readOnly !== true);
  });
  const account = await writeFiles(join(folder, "account"), options.account, DEFAULT_MODE, group);
  const etcHosts = join(folder, "etc-hosts");
  await writeFile(etcHosts, toEtcHosts(options));
  return [...binds, toBind(account, ACCOUNT_FOLDER), toBind(etcHosts, "/etc/hosts")];
}

/** The `config.json` of an OCI bundle. */
function toBundle({
  options,
  image,
  root,
  mounts,
  user: { uid, gid, group },
}: {
  readonly options: CrunPodOptions;
  readonly image: ImageConfig;
  readonly root: string;
  readonly mounts: readonly object[];
  readonly user: User;
}): object {
  const container = findContainer(options.spec);
  const { command, args = [], securityContext } = container;
  return {
    ociVersion: "1.0.2",
    root: { path: root, readonly: securityContext?.readOnlyRootFilesystem === true },
    process: {
      user: { uid, gid, additionalGids: [group] },
      args: [...(command ?? image.Entrypoint ?? []), ...args],
      env: [...(image.Env ?? []), ...toEnvironment(options, container)],
      cwd: "/",
      noNewPrivileges: securityContext?.allowPrivilegeEscalation === false,
      capabilities: { bounding: [], effective: [], permitted: [] },
    },
    mounts: [...SYSTEM_MOUNTS, ...mounts],
    linux: {
      namespaces: [
        ...["pid", "mount", "ipc", "uts"].map((type) => ({ type })),
        { type: "network", path: options.network },
      ],
    },
  };
}

async function execInside(
  pid: number,
  { uid, gid }: User,
  command: readonly string[],
): Promise<string> {
  const enter = ["--target", `${pid}`, "--mount", "--pid", "--net", "--uts", "--ipc"];
  const as = [`--setuid=${uid}`, `--setgid=${gid}`];
  const args = [...enter, ...as, "--", ...command];
  const { stdout } = await run("nsenter", args, { timeout: EXEC_TIMEOUT_MS });
  return stdout;
}

const SYSTEM_MOUNTS = [
  { destination: "/proc", type: "proc", source: "proc" },
  { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
  {
    destination: "/dev/pts",
    type: "devpts",
    source: "devpts",
    options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", `gid=${TTY_GROUP}`],
  },
];

function toBind(source: string, destination: string, isWritable = false): object {
  return { destination, source, type: "bind", options: ["bind", isWritable ? "rw" : "ro"] };
}

async function createVolume(
  { configMaps, secrets }: CrunPodOptions,
  folder: string,
  { configMap, secret, emptyDir }: Raw<V1Volume>,
  group: number,
): Promise<string> {
  if (emptyDir !== undefined) return await writeFiles(folder, {}, DEFAULT_MODE, group);
  const files = configMaps[configMap?.name ?? ""] ?? secrets[secret?.secretName ?? ""];
  if (files === undefined) throw new TypeError(`Cannot make ${folder}: its files are unknown`);
  const items = configMap?.items ?? secret?.items;
  const chosen =
    items === undefined
      ? files
      : Object.fromEntries(items.map(({ key, path }) => [path, files[key] ?? ""]));
  const mode = configMap?.defaultMode ?? secret?.defaultMode ?? DEFAULT_MODE;
  return await writeFiles(folder, chosen, mode, group);
}

/** A kubelet gives files to root, and lets the group of the pod read them. */
async function writeFiles(
  folder: string,
  files: Files,
  mode: number,
  group: number,
): Promise<string> {
  await mkdir(folder);
  await chown(folder, 0, group);
  await chmod(folder, FOLDER_MODE);
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await writeFile(path, text);
    await chown(path, 0, group);
    await chmod(path, mode | 0o440);
  }
  return folder;
}

function toEnvironment({ env }: CrunPodOptions, container: Container): readonly string[] {
  const own = (container.env ?? []).map(({ name, value = "" }) => [name, value]);
  return [...Object.entries(env), ...own].map((pair) => pair.join("="));
}

function toEtcHosts({ spec, hosts }: CrunPodOptions): string {
  const aliases = (spec.hostAliases ?? []).map(({ ip, hostnames = [] }) =>
    [ip, ...hostnames].join(" "),
  );
  return ["127.0.0.1 localhost", ...hosts, ...aliases, ""].join("\n");
}
