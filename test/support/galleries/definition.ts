/**
 * An example controller for the registry: no Node, no cloud, a kind of its own. One line adds it.
 * @module
 */
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import { SYNCS_FLAG } from "./flags.ts";
import { CONFIG_MAPS, GALLERIES } from "./kinds.ts";
import { GALLERY_SECTION, type GallerySettings } from "./settings.ts";
import { COMPONENT, EVENT_WORDS, FINALIZER, NAME } from "./words.ts";

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
