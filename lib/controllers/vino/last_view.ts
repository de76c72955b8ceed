/**
 * What the last inventory shows of machines, for the debug pages.
 * @module
 */
import type { Machines, MachinesView } from "../../cloud/capabilities/machines.ts";
import { CloudError } from "../../cloud/errors.ts";

/** Reads only memory. @returns `undefined` before the first inventory */
export async function readLastView(
  machines: Pick<Machines, "observe">,
  signal: AbortSignal,
): Promise<MachinesView | undefined> {
  try {
    return await machines.observe({ isForChange: false }, signal);
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}
