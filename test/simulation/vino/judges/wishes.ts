/**
 * What Vinos want, now and lately, read without the controller's own code.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Timeline } from "../../timeline.ts";
import type { ApiServer } from "../../world/api_server.ts";
import type { Birth } from "./machines.ts";

/** A process may not know yet what changed less long ago: it may be frozen, cut off, or slow. */
export const NEWS_MS = 240_000;

/** What a Vino wants of a role. */
export interface Wish {
  readonly count: number;
  /** Whether that is for each host; otherwise for all together. */
  readonly isPerHost: boolean;
  /** Which hosts it names; without any, all of the pool. */
  readonly names: readonly string[];
  readonly tags: readonly string[];
}

/** Reads a role of the spec of a Vino. One that it lacks is wanted nowhere. */
export function readWish(vino: ApiObject, role: string): Wish {
  const { nodes = [] } = objectAt(vino, "spec");
  const all = isArray(nodes) ? nodes.filter(isObject) : [];
  const node = all.find((one) => stringAt(one, "name") === role);
  const block = objectAt(objectAt(vino, "spec"), "xenOrchestra");
  const hosts = objectAt(block, "hosts");
  return {
    count: Number(node?.["count"] ?? 0),
    isPerHost: node !== undefined && stringAt(block, "countPer") === "Host",
    names: textsAt(hosts, "names"),
    tags: textsAt(hosts, "tags"),
  };
}

/** Whether a Vino deletes the machines that it does not want. */
export function deletes(vino: ApiObject): boolean {
  const block = objectAt(objectAt(vino, "spec"), "xenOrchestra");
  return stringAt(block, "deletionPolicy") === "Delete";
}

/**
 * Whether machines are too many, as the numbers alone say: a host that lost its tag is no reason for fewer.
 *
 * @param homes Of all machines of the role, those where each was to start first
 */
export function listTooMany({ count, isPerHost }: Wish, homes: readonly string[]): string[] {
  if (!isPerHost) return homes.length > count ? [...new Set(homes)] : [];
  const byHome = Map.groupBy(homes, (home) => home);
  return [...byHome].flatMap(([home, here]) => (here.length > count ? [home] : []));
}

/** How many machines there must be, with those that stay on hosts that are not chosen any more. */
export function countWanted(
  { count, isPerHost }: Wish,
  { homes, chosen }: { readonly homes: readonly string[]; readonly chosen: ReadonlySet<string> },
): number {
  if (!isPerHost) return count;
  const elsewhere = Map.groupBy(
    homes.filter((home) => !chosen.has(home)),
    (home) => home,
  );
  const kept = [...elsewhere.values()].map((here) => Math.min(here.length, count));
  return kept.reduce((sum, some) => sum + some, count * chosen.size);
}

/** IDs of the hosts that a Vino means now. */
export function listChosen({ names, tags }: Wish, hosts: Iterable<XoRecord>): ReadonlySet<string> {
  const isChosen = (host: XoRecord): boolean => {
    if (names.length + tags.length === 0 || names.includes(String(host["name_label"]))) return true;
    const own = host["tags"];
    return Array.isArray(own) && own.some((tag) => tags.includes(String(tag)));
  };
  return new Set([...hosts].filter(isChosen).map(({ id }) => id));
}

/** Where a VM was to start first. */
export function homeOf(vm: XoRecord): string {
  return String(vm["affinityHost"] ?? vm["$container"]);
}

/** What a Vino wanted at some time. */
interface Said {
  readonly atMs: number;
  readonly vino: ApiObject;
}

/** Remembers what Vinos wanted. */
export class Wishes {
  readonly #server: ApiServer;
  readonly #timeline: Timeline;
  /** By the beginning of the UID. */
  readonly #said = new Map<string, Said[]>();

  constructor(server: ApiServer, timeline: Timeline) {
    this.#server = server;
    this.#timeline = timeline;
    server.follow<ApiObject>("vinoes", ({ after }) => this.#note(after));
  }

  /** What a process may believe a Vino wants: all that it wanted lately. @param uid Its beginning */
  listLate(uid: string): readonly ApiObject[] {
    const all = this.#said.get(uid) ?? [];
    const sinceMs = this.#timeline.monotonic() - NEWS_MS;
    const at = all.findLastIndex(({ atMs }) => atMs <= sinceMs);
    return all.slice(Math.max(0, at)).map(({ vino }) => vino);
  }

  /** Whether what is left of a machine with a name may stay: its Vino deletes nothing. */
  mayStay(name: string): boolean {
    const last = this.#findLast(/^vino-([0-9a-f]{8})-/.exec(name)?.[1] ?? "");
    return last !== undefined && !deletes(last);
  }

  /** The name of the host of a machine. */
  toHostName({ uid, role, index }: Birth): string {
    return `${this.#findLast(uid)?.metadata.name ?? ""}-${role}-${index}`;
  }

  /** The host of a machine, if there is one. */
  findHost(birth: Birth): ApiObject | undefined {
    const name = this.toHostName(birth);
    return this.#server.objects
      .list("baremetalhosts")
      .find(({ metadata }) => metadata.name === name);
  }

  #findLast(uid: string): ApiObject | undefined {
    return this.#said.get(uid)?.at(-1)?.vino;
  }

  #note(vino: ApiObject | undefined): void {
    if (vino === undefined) return;
    const uid = stringAt(vino.metadata, "uid").slice(0, 8);
    const all = this.#said.get(uid) ?? [];
    const generation = all.at(-1)?.vino.metadata["generation"];
    const isLeaving = "deletionTimestamp" in vino.metadata;
    if (generation === vino.metadata["generation"] && !isLeaving) return;
    all.push({ atMs: this.#timeline.monotonic(), vino });
    this.#said.set(uid, all);
  }
}

function textsAt(object: JsonObject, key: string): readonly string[] {
  const all = object[key];
  return isArray(all) ? all.map(String) : [];
}
