/**
 * The conditions of VinoMachines and their reasons. The words never change.
 * @module
 */
import { no, type ReasonWord, yes } from "../../kinds/words.ts";

/** The reasons of all conditions, by a name for code, in the order of the reference page. */
type MachineConditionWords = {
  readonly Made: Readonly<Record<"done" | "waiting" | "silent", ReasonWord>>;
  readonly Complete: Readonly<
    Record<"done" | "waiting" | "blocked" | "failed" | "silent", ReasonWord>
  >;
  readonly Published: Readonly<
    Record<"done" | "waiting" | "refused" | "nameTaken" | "paused" | "leaving", ReasonWord>
  >;
  readonly Differs: Readonly<Record<"some" | "stop" | "none", ReasonWord>>;
  readonly Removed: Readonly<Record<"wanted" | "removing" | "kept", ReasonWord>>;
};

const PROGRESSING = "Progressing";
const SILENT = "CloudUnreachable";

/** All conditions of a VinoMachine. */
export const MACHINE_CONDITION_WORDS: MachineConditionWords = {
  Made: {
    done: yes("MachineExists", "The cloud shows the VM."),
    waiting: no("NotMade", "The VM does not exist, as far as Landfall knows."),
    silent: no(SILENT, "The cloud does not say whether the VM exists."),
  },
  Complete: {
    done: yes("AllPartsMade", "The VM has its disks, its interfaces and its last mark."),
    waiting: no(PROGRESSING, "Landfall makes the VM or its parts, or waits for its turn."),
    blocked: no("DecisionNeeded", "A person must decide. The message says what to do."),
    failed: no("MachineFailure", "The last attempt failed. Landfall tries again."),
    silent: no(SILENT, "The cloud does not answer, or does not show enough."),
  },
  Published: {
    done: yes("HostPublished", "The VM has its BareMetalHost."),
    waiting: no(PROGRESSING, "The BareMetalHost is published when the VM is complete."),
    refused: no("HostRefused", "The API server refuses the BareMetalHost or a Secret of it."),
    nameTaken: no("NameTaken", "An object of the same name belongs to something else."),
    paused: no("HostPaused", "A user or another program paused or moved the BareMetalHost."),
    leaving: no("HostLeaving", "The BareMetalHost is being deleted, or in use and must go."),
  },
  Differs: {
    some: yes("PersonNeeded", "The complete VM or its BareMetalHost is not as the spec says."),
    stop: yes("StopNeeded", "The VM must be stopped before it can become as the spec says."),
    none: no("NothingDiffers", "The VM is not known to differ from the spec."),
  },
  Removed: {
    wanted: no("Wanted", "The Vino wants the machine."),
    removing: no("Unwanted", "The Vino does not want the machine. The message says how far it is."),
    kept: no("Kept", "The Vino does not want the machine, and deletionPolicy is Retain."),
  },
};
