/**
 * Filters of lists of machines.
 * @module
 */

/** VMs whose names, marks or tags are of our form. */
export const OWN_VMS = "|(name_label:/^vino-/ name_description:/vino uid=/ tags:/^vino:uid=/)";
/** Disks whose names are of our form. */
export const OWN_DISKS = "name_label:/^vino-/";
