/**
 * The instance type of a VM.
 * @module
 */

const GIB = 2 ** 30;

/**
 * Formats an instance type as the Go controller does, such as `4vCPU-8GB`. MUST NOT CHANGE: it is a label value that
 * schedulers select by.
 *
 * @param cpus Most virtual CPUs the VM may have
 * @param memoryBytes Configured memory in bytes: the static maximum, which ballooning does not move. Shown in GiB,
 * rounded half to even
 */
export function formatInstanceType(cpus: number, memoryBytes: number): string {
  return `${roundHalfToEven(cpus)}vCPU-${roundHalfToEven(memoryBytes / GIB)}GB`;
}

/**
 * Instance type that a tag sets, such as `m1.large` for the tag `type=m1.large` and the prefix `type=`.
 *
 * @returns What follows the prefix in the first tag, in text order, that has it; `undefined` when none does
 */
export function findTagValue(tags: readonly string[], prefix: string): string | undefined {
  const [first] = tags.filter((tag) => tag.startsWith(prefix) && tag.length > prefix.length).sort();
  return first?.slice(prefix.length);
}

/** As `%.0f` of C and Go; `toFixed(0)` and `Math.round` go away from zero and up. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
