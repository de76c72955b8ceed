/**
 * The instance type of a VM.
 * @module
 */
import { LABEL_LENGTH_MAX, toLabelValue } from "../../../core/text/label.ts";

/** How the name of a service offering becomes a label value. */
type InstanceTypeStyle = "squeezed" | "sanitised";

/**
 * Formats an instance type. MUST NOT CHANGE: schedulers select by it.
 *
 * - `squeezed`: only ASCII letters and digits stay, as the Apache provider writes it: `Small Instance` gives
 *   `SmallInstance`, and `Über 2` gives `ber2`
 * - `sanitised`: every other character becomes `-`: `Small-Instance`
 *
 * @returns `undefined` when nothing is left
 */
export function formatInstanceType(offering: string, style: InstanceTypeStyle): string | undefined {
  const text =
    style === "sanitised"
      ? toLabelValue(offering)
      : offering.replaceAll(/[^A-Za-z0-9]/gu, "").slice(0, LABEL_LENGTH_MAX);
  return text === "" ? undefined : text;
}
