/**
 * The largest flow through a network of whole capacities (Dinic).
 * @module
 */

/** A network. Nodes are numbers; edges that were added first are preferred. */
export class FlowNetwork {
  readonly source: number = 0;
  readonly sink: number = 1;
  /** By node: the edges that leave it. Edge `e ^ 1` is the way back. */
  readonly #edges: number[][] = [[], []];
  /** By edge: the node that it leads to, and what it can still carry. */
  readonly #to: number[] = [];
  readonly #room: number[] = [];
  #steps = 0;

  /** Edges made or looked at so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Returns the number of the node. */
  addNode(): number {
    return this.#edges.push([]) - 1;
  }

  /** Returns the number of the edge. */
  addEdge(from: number, to: number, capacity: number): number {
    const edge = this.#to.push(to, from) - 2;
    this.#room.push(capacity, 0);
    this.#edges[from]?.push(edge);
    this.#edges[to]?.push(edge + 1);
    this.#steps += 1;
    return edge;
  }

  /** What flows through an edge. */
  flowOf(edge: number): number {
    return this.#room[edge ^ 1] ?? 0;
  }

  /** Lets as much flow as can. */
  maximize(): void {
    for (let levels = this.#findLevels(); levels; levels = this.#findLevels()) {
      const next = new Int32Array(this.#edges.length);
      while (this.#send(levels, next));
    }
  }

  /** Distances from the source along edges with room; undefined if the sink cannot be reached. */
  #findLevels(): Int32Array | undefined {
    const levels = new Int32Array(this.#edges.length).fill(-1);
    const queue = [this.source];
    levels[this.source] = 0;
    for (const node of queue) {
      if (levels[this.sink] !== -1) return levels;
      for (const edge of this.#edges[node] ?? []) {
        this.#steps += 1;
        const to = this.#to[edge] ?? 0;
        if (this.#room[edge] === 0 || levels[to] !== -1) continue;
        levels[to] = (levels[node] ?? 0) + 1;
        queue.push(to);
      }
    }
    return undefined;
  }

  /** Sends one along a shortest path, if there is one. `next` remembers by node which of its edges to try. */
  #send(levels: Int32Array, next: Int32Array): boolean {
    const path: number[] = [];
    let node = this.source;
    while (node !== this.sink) {
      const edge = this.#edges[node]?.[next[node] ?? 0];
      const to = this.#to[edge ?? -1] ?? 0;
      this.#steps += 1;
      if (edge !== undefined && this.#room[edge] !== 0 && levels[to] === (levels[node] ?? 0) + 1) {
        path.push(edge);
        node = to;
        continue;
      }
      if (edge === undefined) {
        const back = path.pop();
        if (back === undefined) return false;
        node = this.#to[back ^ 1] ?? 0;
      }
      next[node] = (next[node] ?? 0) + 1;
    }
    for (const edge of path) {
      this.#room[edge] = (this.#room[edge] ?? 0) - 1;
      this.#room[edge ^ 1] = (this.#room[edge ^ 1] ?? 0) + 1;
    }
    return true;
  }
}
