/**
 * How a controller is added: its name and words, what it needs, and how it is loaded.
 * @module
 */
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Right } from "../kube/access/rights.ts";
import type { EventWord } from "./words.ts";

/** A flag that a controller brings. */
export interface ControllerFlag {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  readonly type: "duration" | "int";
  /** Default as it would be written after `=`. */
  readonly default: string;
  /** What it does, in one line without full stop. */
  readonly help: string;
  /** Both are allowed; of a duration in milliseconds. */
  readonly range: readonly [least: number, most: number];
}

/** A taint, an annotation or another word on objects that a controller reads or writes, for the reference page. */
export interface ObjectWord {
  readonly word: string;
  /** `taint`, `annotation`. */
  readonly where: string;
  /** Who writes it and why, one sentence. */
  readonly meaning: string;
}

/**
 * A controller that can be chosen. What stands here is cheap to import: flags, reference pages, manifests and
 * `landfall check` iterate over all definitions, and a controller that is not chosen is not loaded.
 */
export interface ControllerDefinition {
  /** Name for `--controllers`, in logs and metrics. */
  readonly name: string;
  /** What `--controllers` may call it, too: the name of the Go controller that does the same. */
  readonly aliases: readonly string[];
  /** `source.component` of its Events. */
  readonly component: string;
  /** Its Events, in the order of the reference page. */
  readonly events: Readonly<Record<string, EventWord>>;
  /** Other words that it reads or writes on objects. */
  readonly words: readonly ObjectWord[];
  /** Flags that it reads; controllers that read the same one list the same one. */
  readonly flags: readonly ControllerFlag[];
  /** What it may do in the cluster. */
  readonly rights: readonly Right[];
  /** Registers its own metrics; for the reference page alone. Absent: it has none. */
  registerMetrics?(registry: MetricsRegistry): unknown;
}
