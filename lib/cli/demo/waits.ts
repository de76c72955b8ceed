/**
 * Waits that are shorter in the demo than usual. Its introduction shows both values.
 * @module
 */
import { DEFAULT_DELETION, type DeletionSettings } from "../../cloud/deletion/guard.ts";
import { DEFAULT_OUT_OF_SERVICE, type OutOfServiceSettings } from "../../cloud/deletion/streak.ts";

/** How often the provider takes an inventory. */
export const REFRESH_INTERVAL = "1s";

/** How often controllers look at all Nodes, in milliseconds. */
export const NODE_MONITOR_PERIOD_MS = 1_000;

/** How often load balancers are compared with their Services, in milliseconds. */
export const SERVICE_SYNC_PERIOD_MS = 3_000;

/** The settings of `deletion`. */
export const DELETION: DeletionSettings = { ...DEFAULT_DELETION, holdOffMs: 3_000 };

/** The settings of `outOfService`. */
export const OUT_OF_SERVICE: OutOfServiceSettings = { ...DEFAULT_OUT_OF_SERVICE, graceMs: 2_000 };
