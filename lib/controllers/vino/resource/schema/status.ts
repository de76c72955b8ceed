/**
 * The schema of the `status` of a Vino.
 * @module
 */
import {
  conditions,
  list,
  object,
  oneOf,
  optional,
  required,
  type Schema,
  STATUS_NUMBER,
  STATUS_TEXT,
  STATUS_TIME,
} from "../../../kinds/parts.ts";
import {
  HOST_STATES,
  MACHINE_STATES,
  MACHINES_MAX,
  type VinoCounts,
  type VinoMachine,
  type VinoRemoval,
  type VinoStatus,
} from "../vino.ts";
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

const MACHINE: Schema<VinoMachine> = object<VinoMachine>({
  name: required(STATUS_TEXT, "Its name in the cloud."),
  role: required(STATUS_TEXT, "What it is for."),
  index: required(STATUS_NUMBER, "Its number within the role."),
  host: optional(STATUS_TEXT, "ID of the host in the cloud where it starts."),
  hostDisplayName: optional(STATUS_TEXT, "The name of that host."),
  machineId: optional(STATUS_TEXT, "Its ID in the cloud."),
  address: optional(STATUS_TEXT, "Its address."),
  state: required(oneOf(MACHINE_STATES), "How far it is."),
  bareMetalHost: optional(oneOf(HOST_STATES), "How far its BareMetalHost is."),
  message: optional(STATUS_TEXT, "What it waits for."),
  record: optional(STATUS_TEXT, "What the cloud must know about it after a restart."),
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
  machines: optional(
    list(MACHINE, MACHINES_MAX),
    "The machines, and those that are not wanted any more, as long as they exist.",
  ),
  removals: optional(
    list(REMOVAL, MACHINES_MAX),
    "Machines that were removed within `deletion.fleetWindow`. They count for `deletion.fleetShare`, also after a " +
      "restart of Landfall.",
  ),
});
