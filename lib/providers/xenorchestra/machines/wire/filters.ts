/**
 * Filters of lists of machines.
 * @module
 */

/** VMs whose names or marks are of our form. */
export const OWN_VMS = "|(name_label:/^vino-/ name_description:/vino uid=/)";
/** Disks whose names are of our form. */
export const OWN_DISKS = "name_label:/^vino-/";
