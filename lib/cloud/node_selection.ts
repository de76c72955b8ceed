/**
 * The section `nodes`: which Nodes Landfall manages, for every cloud.
 * @module
 */
import {
  LABEL_SELECTOR_FORM,
  type LabelSelector,
  parseLabelSelector,
} from "../core/text/label_selector.ts";
import { parsed, setting } from "./settings/schema.ts";
import { createSection, type SettingsSection } from "./settings/section.ts";

/** The settings of the section. */
export interface NodeSelection {
  /** The Nodes that Landfall manages. Empty: all. */
  readonly selector: LabelSelector;
}

/** The section of the Nodes. */
export const NODE_SELECTION: SettingsSection<NodeSelection> = createSection({
  key: "nodes",
  docs: {
    title: "Which Nodes Landfall manages",
    text: [
      "For a cluster in which some Nodes are not machines of this cloud, for example bare-metal Nodes. See [Nodes of",
      "another kind](../guides/configure.md#nodes-that-are-not-machines-of-this-cloud).",
    ].join("\n"),
  },
  entries: {
    selector: setting(parsed(parseLabelSelector, LABEL_SELECTOR_FORM), {
      type: "label selector",
      description:
        "Landfall manages only the Nodes whose labels match. It neither changes nor deletes any other Node, does not " +
        "ask the cloud about it and does not warn about it. The form is that of `kubectl get nodes --selector`, " +
        "without `>` and `<`. " +
        "Default: all Nodes.",
    }),
  },
  toSettings: ({ selector = [] }) => ({ selector }),
});
