/**
 * Writes what Landfall says about a Vino: its status, its finalizers, and Events.
 * @module
 */
import { toEvent } from "../../kube/events/words.ts";
import { ObjectWriter, type ObjectWriterOptions } from "../kinds/object_writer.ts";
import { type Vino, VINOES } from "./resource/vino.ts";
import { findSilenceChange, type Outcome, planStatus } from "./status/status.ts";
import { EVENT_WORDS } from "./words.ts";

/** Writes Vinos. */
export class VinoWriter extends ObjectWriter<Vino> {
  readonly #options: ObjectWriterOptions;

  constructor(options: ObjectWriterOptions) {
    super(VINOES, options);
    this.#options = options;
  }

  /**
   * Writes what changed of the status; nothing if that is nothing. Events say that a Vino becomes ready, and when its
   * cloud answers no more, or again.
   */
  async writeOutcome(vino: Vino, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { clock, events } = this.#options;
    const status = planStatus(vino, { outcome, nowMs: clock.now() });
    const silence = status && findSilenceChange(vino.status, status, outcome);
    if (silence) events.record(vino, toEvent(EVENT_WORDS[silence.word], silence.message));
    await this.writeStatus(vino, status, EVENT_WORDS.ready, signal);
  }
}
