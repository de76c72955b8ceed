/**
 * The machine that measures, and its load.
 * @module
 */
import { cpus, loadavg } from "node:os";

/** Its processors: `2 processors, Intel(R) Xeon(R)`. */
export function describeKind(): string {
  const all = cpus();
  return `${all.length} processors, ${all[0]?.model.replace(/ Processor.*/, "") ?? "unknown"}`;
}

/** Its processors and load: `2 processors, Intel(R) Xeon(R), load 0.1 0.2 0.3`. */
export function describeMachine(): string {
  return `${describeKind()}, load ${describeLoad()}`;
}

/** Load over 1, 5 and 15 minutes. */
export function describeLoad(): string {
  return loadavg()
    .map((one) => one.toFixed(1))
    .join(" ");
}
