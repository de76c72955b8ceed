/**
 * Which pool and which hosts of the cloud a Vino names. Pure.
 * @module
 */
import type { MachineHost, MachinePool } from "../../../cloud/capabilities/machines.ts";
import { findClosest } from "../../../core/text/edit_distance.ts";
import type { VinoHosts } from "../resource/vino.ts";

/** A pool, or why there is none; a sentence without a full stop. */
type ChosenPool = { readonly pool: MachinePool } | { readonly problem: string };

/** How many names a message has. */
const NAMED_MAX = 5;

const SEE_POOLS =
  "Connect the pool, or give the user of Landfall the privileges pool read and host read";

/**
 * Finds the pool of a Vino.
 *
 * @param wanted ID or name. An ID wins over a name. Absent: the only pool there is
 */
export function choosePool(pools: readonly MachinePool[], wanted: string | undefined): ChosenPool {
  const [first] = pools;
  // The pool of a VM is known by its ID alone.
  const isHidden = pools.every(({ id, name, isComplete }) => !isComplete && name === id);
  if (first !== undefined && isHidden) {
    const what = `The cloud shows VMs of pool ${first.id}, but not the pool`;
    return { problem: `${what}. ${SEE_POOLS}` };
  }
  const names = pools.slice(0, NAMED_MAX).map(({ name, id }) => `${name} (${id})`);
  const listed = names.length === 0 ? "none" : names.join(", ");
  if (wanted === undefined) {
    const [only, ...others] = pools;
    if (only !== undefined && others.length === 0) return { pool: only };
    const problem = only === undefined ? "no pool" : `${pools.length} pools: ${listed}`;
    return {
      problem: `Set spec.xenOrchestra.pool, because the cloud shows ${problem}`,
    };
  }
  const byId = pools.find(({ id }) => id === wanted);
  if (byId !== undefined) return { pool: byId };
  const [named, ...others] = pools.filter(({ name }) => name === wanted);
  if (named === undefined) {
    const advice = "Correct spec.xenOrchestra.pool, or connect the pool";
    const meant = findClosest(
      wanted,
      pools.flatMap(({ id, name }) => [name, id]),
    );
    const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
    const what = `The cloud does not show pool "${wanted}".${hint}`;
    return { problem: `${what} It shows: ${listed}. ${advice}` };
  }
  if (others.length === 0) return { pool: named };
  return {
    problem: `The cloud shows ${others.length + 1} pools with the name "${wanted}". Use an ID instead: ${listed}`,
  };
}

/** Whether a Vino names a host. Without any list, it means all of them. */
export function isChosen(
  host: MachineHost,
  { ids = [], names = [], tags = [] }: VinoHosts,
): boolean {
  if (ids.length + names.length + tags.length === 0) return true;
  return (
    ids.includes(host.id) ||
    names.includes(host.name) ||
    host.tags.some((one) => tags.includes(one))
  );
}

/** What a Vino names and no host is or has, in words for a message. */
export interface Unmatched {
  /** Each means one host that is missing: `ID 77b2…`, `name "xcp-9"`. */
  readonly hosts: readonly string[];
  /** How many hosts are missing is not known: `tag "vino"`. */
  readonly tags: readonly string[];
}

/** Finds what a Vino names that none of these hosts is or has. */
export function findUnmatched(
  hosts: readonly MachineHost[],
  { ids = [], names = [], tags = [] }: VinoHosts,
): Unmatched {
  const shownTags = new Set(hosts.flatMap((host) => host.tags));
  return {
    hosts: [
      ...ids.filter((one) => hosts.every(({ id }) => id !== one)).map((one) => `ID ${one}`),
      ...names
        .filter((one) => hosts.every(({ name }) => name !== one))
        .map((one) => `name "${one}"`),
    ],
    tags: tags.filter((one) => !shownTags.has(one)).map((one) => `tag "${one}"`),
  };
}

/**
 * Whether a Vino says by itself that it does not want a host. Names and tags can change in the cloud: a host that does
 * not have them any more says nothing about what the Vino wants.
 */
export function isExcluded(
  hostId: string,
  { ids = [], names = [], tags = [] }: VinoHosts,
): boolean {
  return ids.length > 0 && names.length + tags.length === 0 && !ids.includes(hostId);
}
