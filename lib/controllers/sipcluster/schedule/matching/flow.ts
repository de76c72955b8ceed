/**
 * The largest flow through a network of whole capacities (Dinic).
 * @module
 */

/** A network. Node 0 is the source, node 1 the sink. */
export class FlowNetwork {
  static readonly SOURCE = 0;
  static readonly SINK = 1;
  /** By edge: the node that it leads to, and what it can still carry. Edge `e ^ 1` is its way back. */
  readonly #to: number[] = [];
  readonly #room: number[] = [];
  /** Edges by the node that they leave. */
  readonly #edges: number[][] = [[], []];
  #steps = 0;

  /** Edges made or looked at so far. */
  get steps(): number {
    return this.#steps;
  }

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
    return this.#room[edge + 1] ?? 0;
  }

  /** Lets as much flow as can. Returns how much flows. */
  maximize(): number {
    let total = 0;
    for (let levels = this.#findLevels(); levels; levels = this.#findLevels()) {
      const next = new Int32Array(this.#edges.length);
      for (let sent = this.#send(levels, next); sent > 0; sent = this.#send(levels, next)) {
        total += sent;
      }
    }
    return total;
  }

  /** Distances from the source along edges with room; undefined if the sink cannot be reached. */
  #findLevels(): Int32Array | undefined {
    const levels = new Int32Array(this.#edges.length).fill(-1);
    const queue = [FlowNetwork.SOURCE];
    levels[FlowNetwork.SOURCE] = 0;
    for (const node of queue) {
      for (const edge of this.#edges[node] ?? []) {
        this.#steps += 1;
        const to = this.#to[edge] ?? 0;
        if ((this.#room[edge] ?? 0) === 0 || levels[to] !== -1) continue;
        levels[to] = (levels[node] ?? 0) + 1;
        queue.push(to);
      }
    }
    return levels[FlowNetwork.SINK] === -1 ? undefined : levels;
  }

  /** Sends along one shortest path. `next` remembers by node which edges lead nowhere. */
  #send(levels: Int32Array, next: Int32Array): number {
    const path: number[] = [];
    let node: number = FlowNetwork.SOURCE;
    while (node !== FlowNetwork.SINK) {
      const edge = this.#edges[node]?.[next[node] ?? 0];
      if (edge === undefined) {
        const back = path.pop();
        if (back === undefined) return 0;
        node = this.#to[back ^ 1] ?? 0;
        next[node] = (next[node] ?? 0) + 1;
        continue;
      }
      this.#steps += 1;
      const to = this.#to[edge] ?? 0;
      if ((this.#room[edge] ?? 0) > 0 && levels[to] === (levels[node] ?? 0) + 1) {
        path.push(edge);
        node = to;
      } else next[node] = (next[node] ?? 0) + 1;
    }
    const sent = Math.min(...path.map((edge) => this.#room[edge] ?? 0));
    for (const edge of path) {
      this.#room[edge] = (this.#room[edge] ?? 0) - sent;
      this.#room[edge ^ 1] = (this.#room[edge ^ 1] ?? 0) + sent;
    }
    return sent;
  }
}
