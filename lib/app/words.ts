/**
 * Events about the process itself. Frozen: clusters contain them.
 * @module
 */
import type { EventWord } from "../kube/events/words.ts";

/** Source of Events about a process without a cloud. With a cloud, the source has the name of the cloud. */
export const OWN_NAME = "landfall";

/** The Events. The Go controller uses `FailedToCheckClient`, too. */
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
    meaning: "The file of `--cloud-config` changed, and Landfall uses its settings.",
  },
  configRefused: {
    reason: "ConfigRefused",
    type: "Warning",
    meaning:
      "The file of `--cloud-config` changed, and Landfall refuses it. The message names every problem and its line. " +
      "Landfall keeps the old settings, but a restart would fail, or use the defaults if the file is empty now. " +
      "Repeated every hour.",
  },
  credentialExpires: {
    reason: "CloudCredentialExpires",
    type: "Warning",
    meaning:
      "The credentials for the cloud expire within 14 days. The message says when and what to do. Repeated every day.",
  },
};
