/**
 * A figure of the benchmark, and its limit.
 * @module
 */
import type { CloudName } from "./clouds/mod.ts";

/** One line of the table. */
export interface Budget {
  readonly title: string;
  readonly unit: "s" | "MiB" | "requests" | "writes" | "ms" | "KiB" | "times";
  /** Upper limit: for every cloud, or by cloud. Absent: for information only. */
  readonly max?: number | Readonly<Partial<Record<CloudName, number>>>;
}
