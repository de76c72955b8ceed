/**
 * Galleries, the kind of the example controller: what it watches, its words, its flag and its section of a settings
 * file.
 * @module
 */
import type { NumberFlag } from "../../../lib/controllers/definition.ts";
import type { EventWord } from "../../../lib/kube/events/words.ts";
import type { Kind, KubeObject } from "../../../lib/kube/kinds/resource.ts";
import {
  createSection,
  parsed,
  setting,
  type SettingsSection,
  wholeNumber,
} from "../../../lib/cloud/settings/schema.ts";

export const NAME = "example-gallery";
export const COMPONENT = "example-gallery-controller";

/** Label of a ConfigMap with the name of its gallery. */
export const GALLERY_LABEL = "example.org/gallery";
/** Keeps a gallery until its catalogue is gone. */
export const FINALIZER = "example.org/catalogue";
/** Owns the fields of a catalogue. */
export const FIELD_MANAGER = "example-gallery-controller";

export const EVENT_WORDS: Readonly<Record<"catalogued" | "closed", EventWord>> = {
  catalogued: {
    reason: "GalleryCatalogued",
    type: "Normal",
    meaning: "The catalogue says what hangs in the gallery.",
  },
  closed: {
    reason: "GalleryClosed",
    type: "Normal",
    meaning: "The catalogue is gone, and the gallery may go.",
  },
};

/** How many galleries are worked on at once. */
export const SYNCS_FLAG: NumberFlag = {
  name: "concurrent-gallery-syncs",
  type: "int",
  default: "2",
  help: "How many galleries are worked on at once",
  range: [1, 100],
};

/** A gallery: what hangs in it is said by ConfigMaps. */
export interface Gallery extends KubeObject {
  readonly spec?: { readonly paintings?: number };
}

/** A ConfigMap, as far as it is read here. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Galleries. */
export const GALLERIES: Kind<Gallery> = {
  apiVersion: "example.org/v1",
  kind: "Gallery",
  plural: "galleries",
  namespaced: true,
  metadata: ["finalizers", "generation"],
};

/** ConfigMaps, with their owners: a catalogue is owned, a painting is not. */
export const CONFIG_MAPS: Kind<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  metadata: ["ownerReferences"],
};

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
