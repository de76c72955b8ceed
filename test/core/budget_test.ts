import { describe, expect, test } from "bun:test";
import { findMemoryLimit, toBudget } from "../../lib/core/budget.ts";

const MIB = 1024 * 1024;
const NONE = "9223372036854771712\n";

/** Files by their paths; any other is not there. */
function read(files: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
}

describe("findMemoryLimit()", () => {
  test.each<[string, Record<string, string>, number | undefined]>([
    [
      "of a container with version 2",
      { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "268435456\n" },
      256 * MIB,
    ],
    [
      "of a service, the smallest around it",
      {
        "/proc/self/cgroup": "0::/system.slice/landfall.service\n",
        "/sys/fs/cgroup/system.slice/landfall.service/memory.max": "max\n",
        "/sys/fs/cgroup/system.slice/memory.max": "536870912\n",
      },
      512 * MIB,
    ],
    [
      "of a container with version 1, whose group is mounted as the root",
      {
        "/proc/self/cgroup": "9:name=systemd:/a\n4:memory:/kubepods/a\n0::/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
      },
      256 * MIB,
    ],
    [
      "that is none",
      {
        "/proc/self/cgroup": "4:cpu,memory:/a\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": NONE,
        "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": NONE,
      },
      undefined,
    ],
    ["of a system without groups", {}, undefined],
  ])("reads the limit %s", (_title, files, limit) => {
    expect(findMemoryLimit(read(files))).toBe(limit);
  });
});

test("toBudget() shares out what there is, and always something", () => {
  expect(toBudget(256 * MIB)).toMatchObject({ memory: 256 * MIB, reply: 16 * MIB });
  expect(toBudget(16 * MIB)).toEqual(toBudget(256 * MIB));
  expect(toBudget(64 * 1024 * MIB)).toEqual(toBudget());
});
