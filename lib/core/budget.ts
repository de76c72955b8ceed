/**
 * What this process may hold, as shares of the memory that it has. Everything that a server or a tenant can make long
 * has its limit here.
 * @module
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Sizes in bytes. */
interface Budget {
  /** What the kernel allows this process, or what is assumed. All others are shares of it. */
  readonly memory: number;
  /** The text of one reply of a cloud, unpacked. */
  readonly reply: number;
  /** The texts of all replies of a cloud that arrive at the same time. */
  readonly replies: number;
  /** What one text may need when it is parsed. */
  readonly parsed: number;
  /** The large objects of one view of the API server. */
  readonly view: number;
}

const MIB = 1024 * 1024;
/** Without a limit, and the most that is shared out: 64 MiB of text are more than 30,000 machines. */
const MEMORY_MAX = 1024 * MIB;
/** What the manifests give. 5,000 machines need these shares, so a smaller limit is not shared out. */
const MEMORY_MIN = 256 * MIB;
const ROOT = "/sys/fs/cgroup";

/** The shares of a memory limit. @param memory In bytes; absent if there is none */
export function toBudget(memory: number = MEMORY_MAX): Budget {
  const shared = Math.min(Math.max(memory, MEMORY_MIN), MEMORY_MAX);
  const share = (parts: number, of: number): number => Math.floor((shared * parts) / of);
  return {
    memory: shared,
    reply: share(1, 16),
    replies: share(1, 8),
    parsed: share(3, 8),
    view: share(1, 8),
  };
}

/**
 * The smallest limit of the control groups of this process, of version 1 or 2. In a container, the folder of the group
 * may be mounted as the root.
 *
 * @param read Reads a file. @throws if it is not there
 * @returns Bytes; `undefined` without a limit
 */
export function findMemoryLimit(
  read: (path: string) => string = (path) => readFileSync(path, "utf8"),
): number | undefined {
  const limits = listGroups(tryRead(read, "/proc/self/cgroup"))
    .map((path) => Number.parseInt(tryRead(read, path), 10))
    // Without a limit, version 2 says `max`, and version 1 a number of exabytes.
    .filter((bytes) => bytes > 0 && bytes < Number.MAX_SAFE_INTEGER);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** The files with the limits of the groups and of those around them. @param groups The text of `/proc/self/cgroup` */
function listGroups(groups: string): string[] {
  return groups.split("\n").flatMap((line) => {
    const [, version, controllers = "", path = ""] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    const isV2 = version === "0" && controllers === "";
    if (!isV2 && !controllers.split(",").includes("memory")) return [];
    const [root, file] = isV2
      ? [ROOT, "memory.max"]
      : [join(ROOT, "memory"), "memory.limit_in_bytes"];
    const paths = [join(root, "/")];
    for (let at = path; at !== "/" && at !== "."; at = dirname(at)) paths.push(join(root, at));
    return paths.map((folder) => join(folder, file));
  });
}

function tryRead(read: (path: string) => string, path: string): string {
  try {
    return read(path);
  } catch {
    return "";
  }
}

/** The budget of this process. */
export const BUDGET: Budget = toBudget(findMemoryLimit());
