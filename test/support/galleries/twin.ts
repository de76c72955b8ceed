/**
 * The example controller once more, off until `--controllers` names it, with one right more.
 * @module
 */
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import { galleryController } from "./definition.ts";
import type { GallerySettings } from "./settings.ts";

export const TWIN_NAME = "example-gallery-twin";

// Its metrics are those of the example: a process has them once.
const { registerMetrics: _metrics, ...shared } = galleryController;

/** Does the work of the example controller under another name, which `*` does not choose. */
export const twinController: ControllerDefinition<GallerySettings> = {
  ...shared,
  name: TWIN_NAME,
  aliases: ["example-gallery-twin-controller"],
  isOffByDefault: true,
  component: "example-gallery-twin-controller",
  rights: [
    ...shared.rights,
    {
      access: { group: "example.org", resource: "galleries", verb: "delete" },
      purpose: "to close galleries",
      mandatory: true,
    },
  ],
};
