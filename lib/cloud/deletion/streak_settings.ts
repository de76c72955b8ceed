/**
 * What all settings have in common that say how long a streak must be: their bounds, and what is not safe. Pure.
 * @module
 */
import type { SectionWarning } from "../settings/section.ts";
import type { StreakSettings } from "./streak.ts";

/** Most observations in a row that may be asked for. */
export const CONFIRMATIONS_MAX = 100;

/** Longest time that they may have to span, in milliseconds. */
export const SPAN_MS_MAX: number = 24 * 3_600_000;

/** What is safe. */
export interface SafeStreak {
  readonly least: StreakSettings;
  /** The key of the time that the observations span, in the settings file. */
  readonly spanKey: string;
  /** What goes wrong with less, for people, without a full stop. */
  readonly why: string;
}

/** Warns of settings with which a streak is too short to be safe. */
export function listRiskyStreak(
  { confirmations, holdOffMs }: StreakSettings,
  { least, spanKey, why }: SafeStreak,
): SectionWarning[] {
  const warnings: SectionWarning[] = [];
  if (confirmations < least.confirmations) {
    const message = `fewer than ${least.confirmations} are not safe: ${why}`;
    warnings.push({ key: "confirmations", message });
  }
  if (holdOffMs < least.holdOffMs) {
    const message = `less than ${least.holdOffMs / 1_000}s is not safe: ${why}`;
    warnings.push({ key: spanKey, message });
  }
  return warnings;
}
