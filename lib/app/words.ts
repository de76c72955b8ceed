/**
 * Events that are about the process itself. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../kube/events/words.ts";

/** What speaks in Events about a process without a cloud; with one, the cloud's name does. */
export const OWN_NAME = "landfall";

/** The Events. `FailedToCheckClient` is the word of the Go controller. */
export const PROCESS_EVENTS: Readonly<
  Record<"checkFailed" | "configApplied" | "configRefused" | "credentialExpires", EventWord>
> = {
  checkFailed: {
    reason: "FailedToCheckClient",
    type: "Warning",
    meaning:
      "The cloud did not answer when it was asked first after the start; the message says why.",
  },
  configApplied: {
    reason: "ConfigApplied",
    type: "Normal",
    meaning: "The file of `--cloud-config` changed, and its settings are in use.",
  },
  configRefused: {
    reason: "ConfigRefused",
    type: "Warning",
    meaning:
      "The file of `--cloud-config` changed and cannot be used: the message has every problem with its line. The old " +
      "settings stay in use, but a restart would fail. Told again each hour.",
  },
  credentialExpires: {
    reason: "CloudCredentialExpires",
    type: "Warning",
    meaning:
      "What Landfall signs in to the cloud with ends within 14 days; the message says when and what to do. Told once " +
      "a day.",
  },
};
