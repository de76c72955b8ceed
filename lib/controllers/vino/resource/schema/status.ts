/**
 * The schema of the `status` of a Vino.
 * @module
 */
import {
  conditions,
  list,
  object,
  optional,
  required,
  type Schema,
  STATUS_NUMBER,
  STATUS_TEXT,
  STATUS_TIME,
} from "../../../kinds/parts.ts";
import { MACHINES_MAX, type VinoCounts, type VinoRemoval, type VinoStatus } from "../vino.ts";
import { CONDITION_WORDS } from "../words.ts";

const COUNTS: Schema<VinoCounts> = object<VinoCounts>({
  wanted: required(STATUS_NUMBER, "Machines that the spec wants."),
  machines: required(STATUS_NUMBER, "Machines that exist."),
  ready: required(STATUS_NUMBER, "Machines that are complete."),
  unwanted: optional(
    STATUS_NUMBER,
    "Machines that the spec does not want, and that exist or may exist.",
  ),
  published: required(STATUS_NUMBER, "BareMetalHosts of all these machines."),
  summary: required(STATUS_TEXT, "Complete machines, and machines that the spec wants."),
});

const REMOVAL: Schema<VinoRemoval> = object<VinoRemoval>({
  name: required(STATUS_TEXT, "The name that it had in the cloud."),
  time: required(STATUS_TIME, "When it was gone."),
});

/** The schema of `status`. */
export const STATUS: Schema<VinoStatus> = object<VinoStatus>({
  observedGeneration: optional(
    STATUS_NUMBER,
    "The generation of the spec that this status is about.",
  ),
  conditions: optional(
    conditions(Object.keys(CONDITION_WORDS).join(", ")),
    "What the Vino has, and what it waits for.",
  ),
  counts: optional(COUNTS, "How many machines the Vino has."),
  removals: optional(
    list(REMOVAL, MACHINES_MAX),
    "Machines that were removed within `deletion.fleetWindow`. They count for `deletion.fleetShare`, also after a " +
      "restart of Landfall.",
  ),
});
