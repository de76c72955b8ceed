/**
 * The section of the example controller in a settings file.
 * @module
 */
import {
  createSection,
  parsed,
  setting,
  type SettingsSection,
  wholeNumber,
} from "../../../lib/cloud/settings/schema.ts";

/** How catalogues are written. */
export interface GallerySettings {
  /** What stands between two paintings. */
  readonly separator: string;
  /** How many paintings a catalogue names at most. */
  readonly most: number;
}

const PAINTINGS_MAX = 1_000;
const WISE_MIN = 2;

/** Its section. */
export const GALLERY_SECTION: SettingsSection<GallerySettings> = createSection({
  key: "galleries",
  docs: {
    title: "Settings of `example-gallery`",
    text: "How it writes catalogues.",
  },
  entries: {
    separator: setting(
      parsed((text) => text, "text"),
      { type: "text", default: ",", description: "What stands between two paintings." },
    ),
    most: setting(wholeNumber(1, PAINTINGS_MAX), {
      type: `whole number, 1 to ${PAINTINGS_MAX}`,
      default: "100",
      description: "How many paintings a catalogue names at most.",
    }),
  },
  toSettings: ({ separator = ",", most = 100 }) => ({ separator, most }),
  listWarnings: ({ most }) =>
    most < WISE_MIN ? [{ key: "most", message: "a catalogue of one painting is none" }] : [],
});
