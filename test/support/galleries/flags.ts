/**
 * Flags of the example controller.
 * @module
 */
import type { NumberFlag } from "../../../lib/controllers/definition.ts";

/** How many galleries are worked on at once. */
export const SYNCS_FLAG: NumberFlag = {
  name: "concurrent-gallery-syncs",
  type: "int",
  default: "2",
  help: "How many galleries are worked on at once",
  range: [1, 100],
};
