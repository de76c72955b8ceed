/**
 * Reports that the cloud does not answer after a start: the most likely cause are wrong settings.
 * @module
 */
import { describeError } from "../core/errors.ts";
import type { Announcer } from "./announcer.ts";
import { PROCESS_EVENTS } from "./words.ts";

/** A source of refreshes: an `InventorySource`. */
interface Refreshes {
  /** Why the last refresh failed; absent after a success. */
  readonly lastError: Error | undefined;
  /** Calls `listener` after each refresh. Returns the function that ends this. */
  subscribe(listener: () => void): () => void;
}

/**
 * Announces it once if the first refresh of the inventory fails.
 *
 * @param name Name of the provider
 */
export function announceFirstFailure(
  source: Refreshes,
  announcer: Pick<Announcer, "announce">,
  name: string,
): void {
  const stop = source.subscribe(() => {
    stop();
    const { lastError } = source;
    if (lastError === undefined) return;
    const message = `Failed to check ${name} client: ${describeError(lastError)}`;
    announcer.announce(PROCESS_EVENTS.checkFailed, message);
  });
}
