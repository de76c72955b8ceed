/**
 * Words of the example controller.
 * @module
 */
import type { EventWord } from "../../../lib/kube/events/words.ts";

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
