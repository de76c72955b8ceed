/**
 * The process as the debug pages show it: who leads, which controllers run, and which kinds they read.
 * @module
 */
import type { ProcessView } from "../../http/views.ts";
import type { CacheState } from "../../kube/cache/caches.ts";
import { toElectionView } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";

/** Describes the process. Reads only memory. */
export function toProcessView(
  { host }: Pick<AppOptions, "host">,
  { caches, electors, groups }: Pick<Parts, "caches" | "electors" | "groups">,
): ProcessView {
  return {
    host,
    elections: electors.map(toElectionView),
    controllers: groups.flatMap(({ elector, controllers }) =>
      controllers.map(({ definition: { name } }) => ({
        name,
        ...(elector && { lease: elector.lease.name }),
        isRunning: elector?.isLeading ?? true,
      })),
    ),
    kinds: caches.states.map((state) => ({
      kind: formatDefinition(state),
      ...(state.selection !== undefined && { selection: state.selection }),
      state: toState(state),
    })),
  };
}

function toState({ synced, missing }: CacheState): ProcessView["kinds"][number]["state"] {
  if (missing) return "missing";
  return synced ? "synced" : "waiting";
}

/** The kind as `kubectl` takes it, with its version: `galleries.example.org/v1`, `nodes/v1`. */
export function formatDefinition({
  resource,
  apiVersion,
}: Pick<CacheState, "apiVersion" | "resource">): string {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined ? `${resource}/${group}` : `${resource}.${group}/${version}`;
}
