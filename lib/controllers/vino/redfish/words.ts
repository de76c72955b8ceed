/**
 * Words of the management controllers of machines in a cluster. Frozen: they must not change.
 * @module
 */
import { OWN_PREFIX } from "../../../core/text/label_namespace.ts";

/** Annotation of the Secret with the credentials of a machine: the record of a boot override. */
export const BOOT_OVERRIDE: string = `${OWN_PREFIX}boot-override`;
