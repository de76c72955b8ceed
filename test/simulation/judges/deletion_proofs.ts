/**
 * What each process was told of machines that are gone, and whether that allows the deletion of a Node by the settings.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { FleetJudge } from "./fleet_judge.ts";
import type { Surroundings } from "../world/cloud.ts";

/** A machine as a process knows it to be gone. */
interface Absence {
  /** When each list was asked for that lacked it, since the last that showed it; monotonic milliseconds. */
  lists: number[];
  /** Whether a list of the process ever showed it. */
  wasShown: boolean;
  /** Since when the process knows its Node to be Ready; absent when it does not. */
  readySinceMs: number | undefined;
}

/** Clocks of processes may be so much too fast. */
const RATE_ERROR = 0.02;
/** So soon a process has looked at what it was told. */
const LOOK_MS = 7_000;
const NODE_MARK = '"kind":"Node"';
const DECODER = new TextDecoder();

/** Follows what the cloud tells each process. */
export class DeletionProofs {
  readonly fleet: FleetJudge;
  readonly #world: Surroundings;
  /** By process and machine. */
  readonly #absences = new Map<string, Absence>();
  /** How many initialised Nodes there were, and since when. */
  readonly #sizes: { readonly atMs: number; readonly size: number }[] = [];

  constructor(world: Surroundings) {
    this.#world = world;
    this.fleet = new FleetJudge(world);
  }

  /** Takes in a list of machines that a process was given. */
  noteList(asker: string, isShown: (vmId: string) => boolean): void {
    for (const vmId of this.#world.machines.values()) {
      const absence = this.#find(asker, vmId);
      if (isShown(vmId)) {
        absence.lists = [];
        absence.wasShown = true;
      } else absence.lists.push(this.#nowMs);
    }
  }

  /** Takes in that a process failed to take an inventory: every count starts again. */
  noteFailure(asker: string): void {
    this.#world.invariants.evidence.noteFailure(asker);
    for (const [key, absence] of this.#absences) {
      if (key.startsWith(`${asker} `)) absence.lists = [];
    }
  }

  /**
   * Takes in a piece of a watch of a process: what was missing while it knew the Node to be Ready is counted again. The
   * last list may have been under way when that ended.
   */
  notePiece(asker: string, piece: Uint8Array): void {
    const text = DECODER.decode(piece);
    if (!text.includes(NODE_MARK)) return;
    for (const line of text.split("\n")) {
      const event = line.includes(NODE_MARK) ? toEvent(line) : undefined;
      if (event === undefined) continue;
      this.#noteReadiness(asker, event.object);
      this.fleet.noteEvent(asker, event.type, event.object);
    }
  }

  /** Takes in a list of all Nodes that reached a process: it may have missed that a Node is not Ready any more. */
  noteNodes(asker: string, nodes: readonly Node[]): void {
    for (const node of nodes) this.#noteReadiness(asker, node);
    this.fleet.noteList(asker, nodes);
  }

  #noteReadiness(asker: string, node: Node): void {
    const [, vmId] = this.#world.cloud.providerId.exec(node.spec?.providerID ?? "") ?? [];
    if (vmId === undefined) return;
    const absence = this.#find(asker, vmId);
    const { readySinceMs } = absence;
    const nowMs = this.#nowMs;
    if (isReady(node)) absence.readySinceMs ??= nowMs;
    else {
      absence.readySinceMs = undefined;
      if (readySinceMs === undefined || nowMs - readySinceMs < LOOK_MS) return;
      absence.lists = absence.lists.slice(-1).map(() => nowMs);
    }
  }

  /** Takes in how many Nodes there are. To be called after each change. */
  noteSize(): void {
    const { server, cloud } = this.#world;
    const isOurs = ({ spec }: Node): boolean => cloud.providerId.test(spec?.providerID ?? "");
    const size = server.nodes.filter(isOurs).length;
    if (this.#sizes.at(-1)?.size !== size) this.#sizes.push({ atMs: this.#nowMs, size });
  }

  /** Notes that a process sends a deletion, and says what speaks against it. */
  listDoubts(author: string, node: Node, vmId: string): string[] {
    const { enabled, confirmations, holdOffMs } = this.#world.findSaid(author).deletion;
    const { lists, wasShown } = this.#find(author, vmId);
    const doubts: string[] = enabled ? [] : ["its settings forbid it"];
    const nowMs = this.#nowMs;
    doubts.push(...this.#world.invariants.evidence.listDoubts(author, node, vmId, wasShown));
    if (lists.length < confirmations) doubts.push(`only ${lists.length} lists lacked the VM`);
    const spanMs = nowMs - (lists[0] ?? nowMs);
    if (spanMs < holdOffMs * (1 - RATE_ERROR))
      doubts.push(`it is missing for ${Math.floor(spanMs)} ms only`);
    return [...doubts, ...this.fleet.listExcess(author, node.metadata.uid ?? "")];
  }

  /** Whether so many Nodes are gone or were lately deleted that the process that leads may delete none. */
  isFleetAtLimit(gone: readonly string[]): boolean {
    const { holder = "" } = this.#world.server;
    const { fleetShare, fleetWindowMs } = this.#world.said.deletion;
    const sinceMs = this.#nowMs - fleetWindowMs * (1 + RATE_ERROR);
    const lately = this.fleet.countDeletions(holder, fleetWindowMs * (1 + RATE_ERROR));
    const affected = gone.length + lately;
    // Which of the sizes the process went by depends on when it started.
    const least = Math.min(...this.#listSizes(sinceMs));
    return affected > Math.max(1, Math.floor(fleetShare * least + 1e-9));
  }

  #listSizes(sinceMs: number): number[] {
    const first = Math.max(
      0,
      this.#sizes.findLastIndex(({ atMs }) => atMs <= sinceMs),
    );
    return this.#sizes.slice(first).map(({ size }) => size);
  }

  #find(asker: string, vmId: string): Absence {
    const key = `${asker} ${vmId}`;
    const never = { lists: [], wasShown: false, readySinceMs: undefined };
    const known = this.#absences.get(key) ?? never;
    this.#absences.set(key, known);
    return known;
  }

  get #nowMs(): number {
    return this.#world.timeline.monotonic();
  }
}

function toEvent(line: string): { readonly type: string; readonly object: Node } | undefined {
  // A piece may be cut anywhere.
  if (!line.startsWith("{") || !line.endsWith("}")) return undefined;
  const event = JSON.parse(line);
  return event.type === "BOOKMARK" ? undefined : event;
}

function isReady(node: Node): boolean {
  return (
    node.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false
  );
}
