/**
 * The example controller once more, off until `--controllers` names it, with one right more and a Lease of its own; and
 * once for those clouds alone that tell of changes.
 * @module
 */
import type { ControllerDefinition } from "../../../lib/controllers/definition.ts";
import { galleryController } from "./definition.ts";
import type { GallerySettings } from "./settings.ts";

/** The Lease that the twin waits for. */
export const TWIN_LEASE = "landfall-galleries";
export const TWIN_NAME = "example-gallery-twin";
export const CLOUD_TWIN_NAME = "example-gallery-cloud-twin";
export const CLOUD_TWIN_LEASE = "landfall-cloud-galleries";
export const LISTENER_NAME = "example-gallery-listener";

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
