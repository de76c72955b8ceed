/**
 * The scenarios of Xen Orchestra.
 * @module
 */
import type { Telling } from "../scenario.ts";
import { OUTAGES } from "./outages.ts";
import { SCRIPTS } from "./scripts.ts";
import { listTellings, toTelling } from "./tellings.ts";

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = [
  ...OUTAGES.flatMap(listTellings),
  ...SCRIPTS.map(toTelling),
];
