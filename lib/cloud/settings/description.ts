/**
 * What Landfall knows about one setting.
 * @module
 */
import type { SettingForm } from "./form.ts";

/** One setting: for the reference page, for the chart, and to find unknown keys. */
export interface SettingDescription {
  /** Key in the file, nested ones with dots: `addresses.exclude`; those of list items without an index. */
  readonly path: string;
  /** Form of its value. An `array` is of texts, or of blocks if keys stand below it; an `object` has free keys. */
  readonly form: SettingForm;
  /** The values that it accepts, in words for operators: `duration`, `list of CIDRs`. */
  readonly type: string;
  /** What it does, in whole sentences. */
  readonly description: string;
  /** Its default, as an operator would write it. Absent: nothing. */
  readonly default?: string;
  /** Environment variable that is read when the file does not set it. */
  readonly variable?: string;
}
