/**
 * Filters of lists of machines.
 * @module
 */
import { MACHINE_PREFIX } from "../../../../cloud/capabilities/machines.ts";

const OWN_NAMES = `name_label:/^${MACHINE_PREFIX}/`;
/** VMs whose names, marks or tags are of our form. */
export const OWN_VMS: string = `|(${OWN_NAMES} name_description:/vino uid=/ tags:/^vino:uid=/)`;
/** Disks whose names are of our form. */
export const OWN_DISKS: string = OWN_NAMES;
