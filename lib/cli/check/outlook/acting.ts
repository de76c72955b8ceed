/**
 * Which controllers set taints and delete Nodes with the flags and settings that `landfall check` looks at. Pure.
 * @module
 */
import type { DeletionSettings } from "../../../cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../cloud/deletion/streak.ts";
import { DELETION, OUT_OF_SERVICE } from "../../../cloud/settings/sections.ts";
import { findSettings, type SectionValues } from "../../../cloud/settings/schema.ts";
import {
  type ControllerDefinition,
  type FlagValues,
  readFlag,
} from "../../../controllers/definition.ts";
import { nodeLifecycleController } from "../../../controllers/node_lifecycle/definition.ts";
import { nodeOutOfServiceController } from "../../../controllers/node_out_of_service/definition.ts";
import { GRACE_FLAG } from "../../../controllers/node_out_of_service/words.ts";

/** What acts on the Nodes of machines that are off or gone, and how carefully. */
export interface Acting {
  /** Whether the controller runs that sets the shutdown taint and deletes Nodes. */
  readonly hasLifecycle: boolean;
  readonly deletion: DeletionSettings;
  /** Absent: the out-of-service controller does not run. */
  readonly outOfService?: OutOfServiceSettings;
}

/** What {@linkcode toActing} goes by. */
interface ActingSources {
  /** The controllers that run. */
  readonly fitting: readonly ControllerDefinition[];
  readonly sections: SectionValues | undefined;
  readonly flags: FlagValues;
}

/** Finds what acts. */
export function toActing({ fitting, sections, flags }: ActingSources): Acting {
  const deletion = findSettings(DELETION, sections) ?? DELETION.standard;
  const hasLifecycle = fitting.includes(nodeLifecycleController);
  if (!fitting.includes(nodeOutOfServiceController)) return { hasLifecycle, deletion };
  const given = findSettings(OUT_OF_SERVICE, sections) ?? OUT_OF_SERVICE.standard;
  const graceMs = Math.max(given.graceMs, readFlag(flags, GRACE_FLAG));
  return { hasLifecycle, deletion, outOfService: { ...given, graceMs } };
}
