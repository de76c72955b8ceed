/**
 * The scenarios of CloudStack.
 * @module
 */
import type { Telling } from "../scenario.ts";
import { OUTAGES } from "./outages.ts";
import { SCRIPTS } from "./scripts.ts";
import { toTelling, toTellings } from "./tellings.ts";

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = [
  ...OUTAGES.flatMap(toTellings),
  ...SCRIPTS.map(toTelling),
];
