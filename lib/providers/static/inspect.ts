/**
 * One look at an inventory file, for a person who writes it.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import { inspectInventory, type Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";

const WORDS = {
  instances: "instances",
  part: "file",
  noneAdvice: "list the machines of the cluster under instances",
  incompleteAdvice: "correct the file",
} as const;

/**
 * Reads the file as it is now.
 *
 * @param path The file
 * @throws the signal's reason
 */
export async function inspectStatic(
  path: string,
  listInventory: (signal: AbortSignal) => Promise<Inventory>,
  signal: AbortSignal,
): Promise<Inspection> {
  try {
    return inspectInventory(path, await listInventory(signal), WORDS);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    const { message } = error;
    const finding = { level: "failure", code: "unreadable", message } as const;
    return { endpoint: path, counts: {}, parts: [], findings: [finding] };
  }
}
