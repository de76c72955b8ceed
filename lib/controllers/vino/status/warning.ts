/**
 * The Event for a Vino whose machines cannot be made. Pure. Single machines have Events of their own.
 * @module
 */
import { describeProblems, joinSome } from "../../kinds/problems.ts";
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
