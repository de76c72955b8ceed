/**
 * What CloudStack told each process of machines that are gone, and whether that allows the deletion of a Node.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Answer, Cloud, Evidence, Surroundings } from "../world/cloud.ts";
import type { CloudStackTruth } from "./truth.ts";

/** An answer about one machine. */
interface Reading {
  readonly atMs: number;
  /** `empty`: without the machine. `unknown`: no machine has that ID. `gone`: it is being expunged. */
  readonly kind: "empty" | "unknown" | "gone" | "shown";
  /** Whether it was about all projects. */
  readonly isAnywhere: boolean;
}

/** A list of all machines, page by page. */
interface List {
  readonly atMs: number;
  readonly owners: Map<string, string>;
  readonly count: number;
  /** How many machines were on the pages so far. */
  shown: number;
  pages: number;
  isWhole: boolean;
}

/** Where a process saw a machine last. */
interface Sight {
  readonly atMs: number;
  readonly owner: string;
}

/** Longest time between the first answer of a proof and the deletion: that of one reconcile. */
const RECONCILE_MS = 60_000;
const ANY_PROJECT = "-1";
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

interface Believed extends Pick<Cloud, "providerId"> {
  readonly truth: CloudStackTruth;
  /** Whether an empty answer may be a part of a proof. */
  readonly trustsEmptyAnswer: boolean;
}

/** See {@linkcode Evidence}. */
export class CloudStackEvidence implements Evidence {
  readonly #cloud: Believed;
  readonly #world: Surroundings;
  /** By process and machine. */
  readonly #readings = new Map<string, Reading[]>();
  readonly #sights = new Map<string, Sight>();
  /** By process, of late. */
  readonly #lists = new Map<string, List[]>();

  constructor(cloud: Believed, world: Surroundings) {
    this.#cloud = cloud;
    this.#world = world;
  }

  noteAnswer(asker: string, { request, response, text }: Answer): void {
    const params = new URL(request.url).searchParams;
    if (params.get("command") !== "listVirtualMachines" || params.has("name")) return;
    const shown = readShown(response, text);
    if (shown === undefined) return;
    const id = params.get("id");
    if (id === null) this.#noteList(asker, Number(params.get("page")), shown);
    else this.#noteReading(`${asker} ${id}`, toKind(shown, id), params.get("projectid"));
  }

  noteFailure(): void {
    // A proof is one round of questions, whatever was asked before.
  }

  listDoubts(author: string, _node: Node, vmId: string): string[] {
    const nowMs = this.#nowMs;
    const all = this.#readings.get(`${author} ${vmId}`) ?? [];
    const readings = all.filter(({ atMs }) => nowMs - atMs <= RECONCILE_MS);
    if (readings.some(({ kind }) => kind === "gone")) return [];
    // A list that was not whole showed it, too.
    const sight = this.#sights.get(`${author} ${vmId}`);
    if (sight === undefined || sight.atMs < this.#findKeysMs(author))
      return ["it never saw the VM with these keys"];
    const first = readings.find((one) => !one.isAnywhere && one.kind !== "shown");
    if (first === undefined) return ["CloudStack did not answer without the VM"];
    const isDenied = readings.some((one) => !one.isAnywhere && one.kind === "unknown");
    if (isDenied) return this.#listListDoubts(author, { vmId, sinceMs: first.atMs });
    if (!this.#cloud.trustsEmptyAnswer) return ["an empty answer is no proof by its settings"];
    const { owner } = sight;
    const anywhere = readings.find(
      (one) => one.isAnywhere && one.kind !== "shown" && one.atMs >= first.atMs,
    );
    if (anywhere === undefined) return ["it may be in another project"];
    return this.#listListDoubts(author, { vmId, sinceMs: anywhere.atMs, owner });
  }

  /** What nobody could see: it was hidden, it is another account's, or it is destroyed and may be recovered. */
  isExcused(_author: string, vmId: string): boolean {
    return this.#cloud.truth.wasHidden(vmId, this.#nowMs - RECONCILE_MS);
  }

  listTaintDoubts(author: string, before: Node, after: Node): string[] {
    const gets = (key: string): boolean => !hasTaint(before, key) && hasTaint(after, key);
    const [, vmId = ""] = this.#cloud.providerId.exec(after.spec?.providerID ?? "") ?? [];
    const { sinceMs } = this.#world.invariants.known.toSpan(author, after.metadata.name);
    const doubts: string[] = [];
    if (gets(OUT_OF_SERVICE)) doubts.push("out of service: nothing proves here that it is off");
    if (gets(SHUTDOWN) && !this.#cloud.truth.wasOff(vmId, sinceMs))
      doubts.push("as shut down: its machine was not off");
    return doubts;
  }

  /** The list of a proof: whole if the answers were empty, and with another Node's VM. */
  #listListDoubts(
    author: string,
    asked: { readonly vmId: string; readonly sinceMs: number; readonly owner?: string },
  ): string[] {
    const { vmId, sinceMs, owner } = asked;
    const nodeVmIds = new Set(this.#world.machines.values());
    const isWitness = ([id, one]: readonly [string, string]): boolean =>
      id !== vmId && nodeVmIds.has(id) && (owner === undefined || one === owner);
    const fits = ({ atMs, owners, isWhole }: List): boolean =>
      atMs >= sinceMs &&
      !owners.has(vmId) &&
      (isWhole || owner === undefined) &&
      [...owners].some(isWitness);
    return this.#lists.get(author)?.some(fits)
      ? []
      : ["no list after that lacked the VM and showed that of another Node"];
  }

  #noteReading(key: string, kind: Reading["kind"], project: string | null): void {
    const atMs = this.#nowMs;
    const late = (this.#readings.get(key) ?? []).filter((one) => atMs - one.atMs <= RECONCILE_MS);
    this.#readings.set(key, [...late, { atMs, kind, isAnywhere: project === ANY_PROJECT }]);
  }

  #noteList(asker: string, page: number, { owners, size, count = 0, code }: Shown): void {
    if (code !== undefined) return;
    const atMs = this.#nowMs;
    const lists = (this.#lists.get(asker) ?? []).filter((one) => atMs - one.atMs <= RECONCILE_MS);
    this.#lists.set(asker, lists);
    // One whose answer was lost on its way back is never continued.
    const open = lists.findLast((one) => !one.isWhole && one.pages === page - 1);
    const list =
      page === 1 ? { atMs, owners: new Map(), count, shown: 0, pages: 0, isWhole: false } : open;
    if (list === undefined) return;
    if (page === 1) lists.push(list);
    list.pages += 1;
    list.shown += size;
    for (const [id, owner] of owners) {
      list.owners.set(id, owner);
      this.#sights.set(`${asker} ${id}`, { atMs, owner });
    }
    list.isWhole = list.count === count && list.shown >= count;
    const { proofs } = this.#world.invariants;
    if (list.isWhole) proofs.noteList(asker, (vmId) => list.owners.has(vmId));
    else if (size === 0 || list.count !== count) proofs.noteFailure(asker);
  }

  /** Since when a process asks with the keys in use. */
  #findKeysMs(author: string): number {
    const { uses } = this.#world.findProcess(author);
    const { token } = uses.at(-1)?.said ?? {};
    const other = uses.findLastIndex(({ said }) => said.token !== token);
    return uses[other + 1]?.sinceMs ?? 0;
  }

  get #nowMs(): number {
    return this.#world.timeline.monotonic();
  }
}

function toKind({ code, unknownId, states }: Shown, vmId: string): Reading["kind"] {
  if (code !== undefined) return unknownId === vmId ? "unknown" : "shown";
  const state = states.get(vmId);
  if (state === undefined) return states.size === 0 ? "empty" : "shown";
  return state === "Expunging" ? "gone" : "shown";
}

function hasTaint({ spec }: Node, wanted: string): boolean {
  return spec?.taints?.some(({ key }) => key === wanted) ?? false;
}

/** What an answer shows. */
interface Shown {
  /** Who owns each machine that is not being expunged, by its ID. */
  readonly owners: ReadonlyMap<string, string>;
  /** The state of each machine, by its ID. */
  readonly states: ReadonlyMap<string, string>;
  /** How many machines it has, readable or not. */
  readonly size: number;
  /** How many machines there are on all pages; absent when it does not say. */
  readonly count?: number;
  /** The code of a refusal. */
  readonly code?: number;
  /** The ID of which a refusal says that nothing has it. */
  readonly unknownId?: string;
}

interface Entry {
  readonly id?: unknown;
  readonly state?: unknown;
  readonly account?: unknown;
  readonly domainid?: unknown;
  readonly projectid?: unknown;
}

interface Body {
  readonly errorcode?: number;
  readonly errortext?: string;
  readonly count?: number;
  readonly virtualmachine?: readonly Entry[];
}

/** Reads an answer; `undefined` for one that is not CloudStack's. */
function readShown({ headers }: Response, text: string): Shown | undefined {
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/json") && !type.startsWith("text/javascript")) return undefined;
  const [body] = Object.values(toObject<Record<string, Body>>(JSON.parse(text)));
  if (typeof body !== "object") return undefined;
  const { errorcode: code, errortext = "", count, virtualmachine: all = [] } = toObject<Body>(body);
  const unknownId = /value=(\S+) due to .*entity does not exist/.exec(errortext)?.[1];
  return {
    owners: new Map(
      all
        .filter(({ state }) => state !== "Expunging")
        .map((one) => [String(one.id), toOwner(one)] as const),
    ),
    states: new Map(all.map((one) => [String(one.id), String(one.state)])),
    size: all.length,
    ...(count !== undefined && { count }),
    ...(code !== undefined && { code }),
    ...(unknownId !== undefined && { unknownId }),
  };
}

function toOwner({ account, domainid, projectid }: Entry): string {
  return projectid === undefined ? `${account} ${domainid}` : `project ${projectid}`;
}

/** The simulator sends what it was told to: a value of another form shows nothing. */
function toObject<T extends object>(value: T | null | undefined | string): Partial<T> {
  return typeof value === "object" && value !== null ? value : {};
}
