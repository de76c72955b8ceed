/**
 * The machine that measures, and how busy it is with other things.
 * @module
 */
import { cpus, loadavg } from "node:os";

/** What it is: `2 processors, Intel(R) Xeon(R)`. */
export function describeKind(): string {
  const all = cpus();
  return `${all.length} processors, ${all[0]?.model.replace(/ Processor.*/, "") ?? "unknown"}`;
}

/** What it is and how busy: `2 processors, Intel(R) Xeon(R), load 0.1 0.2 0.3`. */
export function describeMachine(): string {
  return `${describeKind()}, load ${describeLoad()}`;
}

/** Load over 1, 5 and 15 minutes. */
export function describeLoad(): string {
  return loadavg()
    .map((one) => one.toFixed(1))
    .join(" ");
}
