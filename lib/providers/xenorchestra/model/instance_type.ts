/**
 * Computes the instance type of a VM.
 * @module
 */

const GIB = 2 ** 30;

/**
 * Formats an instance type as the Go controller does, such as `4vCPU-8GB`. MUST NOT CHANGE: workloads select Nodes by
 * this label value.
 *
 * @param cpus Maximum number of virtual CPUs of the VM
 * @param memoryBytes Configured memory in bytes: the static maximum, which ballooning does not change. Shown in GiB,
 * rounded half to even
 */
export function formatInstanceType(cpus: number, memoryBytes: number): string {
  return `${roundHalfToEven(cpus)}vCPU-${roundHalfToEven(memoryBytes / GIB)}GB`;
}

/**
 * Finds the instance type in a tag, such as `m1.large` for the tag `type=m1.large` and the prefix `type=`.
 *
 * @returns The text after the prefix in the first such tag in text order; `undefined` without one
 */
export function findTagValue(tags: readonly string[], prefix: string): string | undefined {
  const [first] = tags.filter((tag) => tag.startsWith(prefix) && tag.length > prefix.length).sort();
  return first?.slice(prefix.length);
}

/** Rounds like `%.0f` of C and Go. `toFixed(0)` and `Math.round` round halves differently. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
