/**
 * The Events for a cloud that does not answer any more, or answers again. Pure.
 * @module
 */
import { findCondition } from "../../kinds/conditions.ts";
import type { VinoStatus } from "../resource/vino.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import type { Outcome } from "./outcome.ts";
import type { Warning } from "./warning.ts";

const BACK_MESSAGE = "The cloud answers again. Landfall goes on with the machines";

/**
 * What begins or ends with a status. `undefined`: nothing.
 *
 * @param before The status so far: it tells apart what begins and what goes on, also after a restart
 * @param outcome From which the next status was made
 */
export function findSilenceChange(
  before: VinoStatus | undefined,
  after: VinoStatus,
  outcome: Outcome,
): Warning | undefined {
  const [was, is] = [findSilence(before), findSilence(after)];
  if (is !== undefined) {
    return was === undefined ? { word: "cloudSilent", message: is } : undefined;
  }
  // A spec that cannot be used says nothing about the cloud.
  const isAnswer = outcome.kind !== "invalid" && outcome.kind !== "incomplete";
  return was !== undefined && isAnswer ? { word: "cloudBack", message: BACK_MESSAGE } : undefined;
}

/** How a status says that the cloud does not answer. */
function findSilence(status: VinoStatus | undefined): string | undefined {
  const ready = findCondition(status, "MachinesReady");
  return ready?.reason === CONDITION_WORDS.MachinesReady.silent.reason ? ready.message : undefined;
}
