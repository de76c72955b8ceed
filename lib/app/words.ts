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
    meaning: "The cloud did not answer the first request after the start. The message says why.",
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
      "The file of `--cloud-config` changed, and Landfall refuses it. The message has every problem with its line. " +
      "Landfall keeps the old settings, but a restart would fail. Repeated every hour.",
  },
  credentialExpires: {
    reason: "CloudCredentialExpires",
    type: "Warning",
    meaning:
      "The credentials for the cloud expire within 14 days. The message says when and what to do. Repeated every day.",
  },
};
