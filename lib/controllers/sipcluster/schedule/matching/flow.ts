/**
 * The largest flow through a network of whole capacities (Dinic).
 * @module
 */

const SOURCE = 0;
const SINK = 1;

/**
 * A network. Its nodes and edges are made once, then each question sets the capacity of every edge, and
 * {@linkcode maximize} answers it.
 */
export class FlowNetwork {
  readonly source: number = SOURCE;
  readonly sink: number = SINK;
  /** By edge: the node that it leads to. Edge `e ^ 1` is its way back. */
  readonly #to: number[] = [];
  /** By edge: what it can still carry. */
  readonly #room: number[] = [];
  /** By node: the last edge that leaves it; by edge: the one before that leaves the same node. -1: none. */
  readonly #last: number[] = [-1, -1];
  readonly #before: number[] = [];
  #steps = 0;

  /** Edges made, set or looked at so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Returns the number of the node. */
  addNode(): number {
    return this.#last.push(-1) - 1;
  }

  /** Returns the number of the edge. It carries nothing until its capacity is set. */
  addEdge(from: number, to: number): number {
    const edge = this.#to.push(to, from) - 2;
    this.#room.push(0, 0);
    this.#before.push(this.#last[from] ?? -1, this.#last[to] ?? -1);
    this.#last[from] = edge;
    this.#last[to] = edge + 1;
    this.#steps += 1;
    return edge;
  }

  /** Empties the edge, and says what it can carry. */
  setCapacity(edge: number, capacity: number): void {
    this.#room[edge] = capacity;
    this.#room[edge + 1] = 0;
    this.#steps += 1;
  }

  /** What flows through an edge. */
  flowOf(edge: number): number {
    return this.#room[edge + 1] ?? 0;
  }

  /** Lets as much flow as can. */
  maximize(): void {
    for (let levels = this.#findLevels(); levels; levels = this.#findLevels()) {
      const next = new Int32Array(this.#last);
      while (this.#send(levels, next));
    }
  }

  /** Distances from the source along edges with room; undefined if the sink cannot be reached. */
  #findLevels(): Int32Array | undefined {
    const levels = new Int32Array(this.#last.length).fill(-1);
    const queue = [SOURCE];
    levels[SOURCE] = 0;
    for (const node of queue) {
      const level = (levels[node] ?? 0) + 1;
      for (let edge = this.#last[node] ?? -1; edge >= 0; edge = this.#before[edge] ?? -1) {
        this.#steps += 1;
        const to = this.#to[edge] ?? 0;
        if (this.#room[edge] === 0 || levels[to] !== -1) continue;
        levels[to] = level;
        queue.push(to);
      }
      if (levels[SINK] !== -1) return levels;
    }
    return undefined;
  }

  /** Sends along one shortest path, if there is one. `next` remembers by node which edge to try. */
  #send(levels: Int32Array, next: Int32Array): boolean {
    const path: number[] = [];
    let node = SOURCE;
    while (node !== SINK) {
      const edge = next[node] ?? -1;
      this.#steps += 1;
      if (edge < 0) {
        const back = path.pop();
        if (back === undefined) return false;
        node = this.#to[back ^ 1] ?? 0;
        next[node] = this.#before[back] ?? -1;
        continue;
      }
      const to = this.#to[edge] ?? 0;
      if (this.#room[edge] !== 0 && levels[to] === (levels[node] ?? 0) + 1) {
        path.push(edge);
        node = to;
      } else next[node] = this.#before[edge] ?? -1;
    }
    const sent = Math.min(...path.map((edge) => this.#room[edge] ?? 0));
    for (const edge of path) {
      this.#room[edge] = (this.#room[edge] ?? 0) - sent;
      this.#room[edge ^ 1] = (this.#room[edge ^ 1] ?? 0) + sent;
    }
    return true;
  }
}
