/**
 * An example controller for the registry: no Node, no cloud, a kind of its own. One line adds it. Its twins have a
 * Lease of their own, or need a cloud.
 * @module
 */
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import {
  NAME,
  COMPONENT,
  FINALIZER,
  EVENT_WORDS,
  SYNCS_FLAG,
  GALLERIES,
  CONFIG_MAPS,
  type GallerySettings,
  GALLERY_SECTION,
} from "./gallery.ts";

/** The Lease that the twin waits for. */
export const TWIN_LEASE = "landfall-galleries";
export const TWIN_NAME = "example-gallery-twin";
export const CLOUD_TWIN_NAME = "example-gallery-cloud-twin";
export const CLOUD_TWIN_LEASE = "landfall-cloud-galleries";
export const LISTENER_NAME = "example-gallery-listener";

/** Keeps a catalogue of the paintings of each gallery. */
export const galleryController: ControllerDefinition<GallerySettings> = {
  name: NAME,
  aliases: [COMPONENT],
  kind: GALLERIES,
  needsCloud: false,
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: FINALIZER,
      where: "finalizer",
      meaning: "Keeps a gallery until its catalogue is gone.",
    },
  ],
  flags: [SYNCS_FLAG],
  section: GALLERY_SECTION,
  watches: [GALLERIES, CONFIG_MAPS],
  listRights: () => [
    {
      access: { group: "example.org", resource: "galleries", verb: "patch" },
      purpose: "to set its finalizer",
      mandatory: true,
    },
    {
      // What is applied and not there is created.
      access: { group: "", resource: "configmaps", verb: "create" },
      purpose: "to write catalogues",
      mandatory: true,
    },
    {
      access: { group: "", resource: "configmaps", verb: "patch" },
      purpose: "to write catalogues",
      mandatory: true,
    },
    {
      access: { group: "", resource: "configmaps", verb: "delete" },
      purpose: "to delete catalogues",
      mandatory: true,
    },
  ],
  load: () => import("./mod.ts"),
};

/** Does the work of the example controller under another name, which `*` does not choose. */
export const twinController: ControllerDefinition<GallerySettings> = {
  ...galleryController,
  name: TWIN_NAME,
  aliases: ["example-gallery-twin-controller"],
  isOffByDefault: true,
  lease: TWIN_LEASE,
  folder: "galleries",
  component: "example-gallery-twin-controller",
  listRights: (needs) => [
    ...galleryController.listRights(needs),
    {
      access: { group: "example.org", resource: "galleries", verb: "delete" },
      purpose: "to close galleries",
      mandatory: true,
    },
  ],
};

/** Does the same with a cloud, which needs no Lease of a cloud. */
export const cloudTwinController: ControllerDefinition<GallerySettings> = {
  ...twinController,
  name: CLOUD_TWIN_NAME,
  aliases: [],
  needsCloud: true,
  lease: CLOUD_TWIN_LEASE,
  folder: "cloud-galleries",
};

/** Does the same where the cloud tells of changes. */
export const listeningController: ControllerDefinition<GallerySettings> = {
  ...galleryController,
  name: LISTENER_NAME,
  aliases: [],
  component: LISTENER_NAME,
  needsCloud: true,
  needs: ["changes"],
};
