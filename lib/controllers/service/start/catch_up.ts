/**
 * Makes sure that a new leader has seen everything that the leader before it wrote to Services.
 * @module
 */
import { toBackoffMs } from "../../../core/backoff.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Logger } from "../../../core/log.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { listAll } from "../../../kube/cache/list_all.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import { type Service, SERVICES } from "../../../kube/kinds/service.ts";

/** What {@linkcode catchUp} needs. */
export interface CatchUpOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly services: StoreReader<Service>;
}

const PAGE = 500;
/** How long to wait for the watch before the next list. */
const PATIENCE_MS = 10_000;
const RETRY = { baseMs: 1_000, capMs: 60_000, jitter: 0.2 } as const;

/**
 * Lists the Services by quorum, and waits until the watch has shown each in the version of the list or a later one.
 * Versions are only compared for equality.
 *
 * @throws the reason of the signal
 */
export async function catchUp(options: CatchUpOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      if (await isCaughtUp(options, signal)) return;
      log.info("Waiting for the watch of Services to catch up");
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Cannot list Services; trying again", { error });
      await clock.sleep(toBackoffMs(failures, RETRY), signal);
    }
  }
}

async function isCaughtUp(
  { client, clock, services }: CatchUpOptions,
  signal: AbortSignal,
): Promise<boolean> {
  /** Versions that the watch showed since the list began, for Services that are missing from the list as well. */
  const seen = new Map<Key, Set<string>>();
  let onChange = (): void => undefined;
  const end = services.subscribe((key, _before, after) => {
    const versions = seen.get(key) ?? new Set();
    seen.set(key, versions.add(after?.metadata.resourceVersion ?? ""));
    onChange();
  });
  try {
    const wanted = await listVersions(client, signal);
    const isDone = (): boolean => {
      for (const [key, version] of wanted) if (seen.get(key)?.has(version)) wanted.delete(key);
      return wanted.size === 0;
    };
    if (isDone()) return true;
    const patience = new AbortController();
    const caught = new Promise<boolean>((resolve) => {
      onChange = (): void => {
        if (isDone()) resolve(true);
      };
    });
    const timeUp = clock
      .sleep(PATIENCE_MS, AbortSignal.any([signal, patience.signal]))
      .then(() => false);
    try {
      return await Promise.race([caught, timeUp]);
    } finally {
      patience.abort();
    }
  } finally {
    end();
  }
}

async function listVersions(
  client: Pick<KubeClient, "list">,
  signal: AbortSignal,
): Promise<Map<Key, string>> {
  const { items } = await listAll(client, SERVICES, { limit: PAGE }, signal);
  return new Map(
    items.map((service) => [toKey(service), service.metadata.resourceVersion ?? ""] as const),
  );
}
