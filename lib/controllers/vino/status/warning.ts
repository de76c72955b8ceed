/**
 * The Events for a Vino whose machines cannot be made, or whose cloud does not answer any more, or answers again. Pure.
 * Single machines have Events of their own.
 * @module
 */
import { findCondition } from "../../kinds/conditions.ts";
import { describeProblems, joinSome } from "../../kinds/problems.ts";
import type { VinoStatus } from "../resource/vino.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import type { EVENT_WORDS } from "../words.ts";
import { describeShortages } from "./findings.ts";
import type { Outcome } from "./outcome.ts";

/** What to warn of. */
export interface Warning {
  readonly word: keyof typeof EVENT_WORDS;
  /** A sentence without a full stop. */
  readonly message: string;
}

/** `undefined`: nothing. A cloud that does not answer has Events of its own, when that begins and when it ends. */
export function findWarning(outcome: Outcome): Warning | undefined {
  switch (outcome.kind) {
    case "invalid":
      return { word: "invalidSpec", message: describeProblems(outcome.problems) };
    case "incomplete":
      return { word: "formMissing", message: describeProblems(outcome.missing) };
    case "refused": {
      const { why: word, message } = outcome;
      return word === "silent" || word === "noCapability" ? undefined : { word, message };
    }
    case "served": {
      const { shortages, addressProblems, addressDifferences = [] } = outcome.report;
      const nowhere = describeShortages(shortages, "noHosts");
      if (nowhere.length > 0) return { word: "noHosts", message: joinSome(nowhere) };
      if (addressDifferences.length > 0) {
        return { word: "addressesDiffer", message: joinSome(addressDifferences) };
      }
      if (addressProblems.length === 0) return undefined;
      return { word: "noAddress", message: joinSome(addressProblems) };
    }
    case "deleting": {
      const { why, obstacle: message } = outcome;
      const isRefused = why === "poolsRefused" || why === "objectRefused";
      return isRefused && message !== undefined ? { word: why, message } : undefined;
    }
  }
}

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
