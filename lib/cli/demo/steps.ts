/**
 * The steps of a story: how they are played, and how they wait.
 * @module
 */
import type { Clock } from "../../core/clock.ts";

/** What every story works with. */
export interface BareStage {
  readonly clock: Clock;
  /** Prints one line. */
  readonly tell: (line: string) => void;
}

/** One step. Resolves with whether it succeeded. */
export interface Step<S extends BareStage> {
  readonly title: string;
  readonly play: (stage: S, signal: AbortSignal) => Promise<boolean>;
}

/** Longest wait of a step, in milliseconds; long, because the machine may be busy. */
const STEP_MS_MAX = 20_000;
const POLL_MS = 50;

/**
 * Plays all steps in order, even after one failed.
 *
 * @param draw Lines that show the world after each step. @default {none}
 * @returns Whether every step succeeded
 */
export async function playSteps<S extends BareStage>(
  stage: S,
  { steps, draw }: { readonly steps: readonly Step<S>[]; readonly draw?: () => readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  let isTrue = true;
  for (const [at, { title, play }] of steps.entries()) {
    stage.tell(`\n[${at + 1}/${steps.length}] ${title}`);
    const startMs = stage.clock.monotonic();
    const cameTrue = await play(stage, signal);
    const seconds = Math.round((stage.clock.monotonic() - startMs) / 1_000);
    for (const line of draw?.() ?? []) stage.tell(line);
    stage.tell(
      cameTrue ? "     OK" : `     FAILED after ${seconds} s. This did not come true: ${title}`,
    );
    isTrue &&= cameTrue;
  }
  return isTrue;
}

/**
 * Waits until something holds.
 *
 * @param ms The longest wait in milliseconds. @default {20 s}
 * @returns Whether it holds
 */
export async function becomes(
  { clock }: Pick<BareStage, "clock">,
  signal: AbortSignal,
  holds: () => boolean,
  ms: number = STEP_MS_MAX,
): Promise<boolean> {
  const startMs = clock.monotonic();
  while (!holds() && clock.monotonic() - startMs < ms) await clock.sleep(POLL_MS, signal);
  return holds();
}
