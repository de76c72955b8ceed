/**
 * Tells when the cloud does not answer after a start: then settings are wrong more often than the cloud is in trouble.
 * @module
 */
import { describeError } from "../core/errors.ts";
import type { Announcer } from "./announcer.ts";
import { PROCESS_EVENTS } from "./words.ts";

/** What tells of refreshes; an `InventorySource`. */
interface Refreshes {
  /** Why the last one failed; absent when it did not. */
  readonly lastError: Error | undefined;
  /** Calls `listener` after each. Returns what ends that. */
  subscribe(listener: () => void): () => void;
}

/**
 * Announces the failure of the first inventory, if it fails, once.
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
