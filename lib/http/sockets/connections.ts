/**
 * The connections of a server: how many there may be, and how long each may take.
 * @module
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../core/clock.ts";
import { parseIp } from "../../core/net/ip.ts";

/** From the first packet to the end of the first request's head, the handshake of TLS included. */
const FIRST_REQUEST_MS = 10_000;
/** From an answer to the end of the next request's head. */
const NEXT_REQUEST_MS = 30_000;
/** From a request until the client has read the last byte of the answer. */
const ANSWER_MS = 30_000;
/**
 * If a client has not read its answer within this time, its connection may be closed to make room for others. A probe
 * takes milliseconds.
 */
const SLOW_MS = 1_000;
/** How many requests a client may send on one connection before it reads the answers. */
const PIPELINE_MAX = 8;

/** What a connection is waiting for. */
interface Connection {
  /** Requests whose answers the client has not read yet. */
  running: number;
  /** When it is closed, in monotonic milliseconds. */
  dueMs: number;
  /** Whether it closes after the running requests. */
  isLast: boolean;
  /** The address of the client. */
  readonly origin: string;
}

/**
 * Counts connections, and closes those that take too long. If there is no room for another one, it closes a connection
 * that sends no request, or else one that does not read its answer: the oldest one of the address with the most
 * connections. So a probe gets through even if a client opens thousands of connections.
 */
export class Connections {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #ended = new AbortController();
  #watching = false;
  #isClosing = false;

  /** @param max How many connections there may be at once */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How many connections there are. */
  get size(): number {
    return this.#connections.size;
  }

  /**
   * Adds a connection until it closes.
   *
   * @param origin The address of the client, if it has one; `::ffff:192.0.2.1` is 192.0.2.1
   */
  add(socket: Duplex, origin = ""): void {
    if (this.#connections.size >= this.#max && !this.#cutIdle() && !this.cutSlow())
      socket.destroy();
    if (socket.destroyed || this.#isClosing) {
      socket.destroy();
      return;
    }
    socket.once("close", () => this.#connections.delete(socket));
    // Code that reads has its own error listeners. Without any listener an error would end the process.
    socket.on("error", () => socket.destroy());
    const dueMs = this.#after(FIRST_REQUEST_MS);
    const place = parseIp(origin)?.text ?? origin;
    this.#connections.set(socket, { running: 0, dueMs, isLast: false, origin: place });
    void this.#watch();
  }

  /** Notes a request. @returns Whether the server may answer it: not if too many before it are unanswered */
  begin(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.running >= PIPELINE_MAX) return false;
    connection.running += 1;
    // More requests do not give more time for the earlier answers.
    if (connection.running === 1) connection.dueMs = this.#after(ANSWER_MS);
    return true;
  }

  /** Notes that a request has its complete answer. */
  end(socket: Duplex): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.running -= 1;
    connection.dueMs = this.#after(connection.running > 0 ? ANSWER_MS : NEXT_REQUEST_MS);
    if (connection.running === 0 && (connection.isLast || this.#isClosing)) socket.end();
  }

  /** Closes a connection after its last pending answer. @returns Whether there is one */
  finish(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.running === 0) return false;
    connection.isLast = true;
    return true;
  }

  /** Closes a connection whose client has not read its answer for some time. @returns Whether there was one */
  cutSlow(): boolean {
    const latestMs = this.#clock.monotonic() + ANSWER_MS - SLOW_MS;
    return this.#cutFirst(({ running, dueMs }) => running > 0 && dueMs <= latestMs);
  }

  /** From now on, closes each connection after its last answer, and accepts no later request on it. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, { running }] of this.#connections) if (running === 0) socket.destroy();
  }

  /** Closes all connections. */
  destroy(): void {
    this.#isClosing = true;
    this.#ended.abort();
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #after(ms: number): number {
    return this.#clock.monotonic() + ms;
  }

  #cutIdle(): boolean {
    return this.#cutFirst(({ running }) => running === 0);
  }

  /** Among the connections that fit, closes the one that is due first, of the address with the most connections. */
  #cutFirst(fits: (connection: Connection) => boolean): boolean {
    const crowds = new Map<string, number>();
    for (const { origin } of this.#connections.values()) {
      crowds.set(origin, (crowds.get(origin) ?? 0) + 1);
    }
    let first: Duplex | undefined;
    let most = 0;
    let firstMs = Infinity;
    for (const [socket, connection] of this.#connections) {
      const crowd = crowds.get(connection.origin) ?? 0;
      const isBefore = crowd > most || (crowd === most && connection.dueMs < firstMs);
      if (!isBefore || !fits(connection)) continue;
      first = socket;
      most = crowd;
      firstMs = connection.dueMs;
    }
    if (first === undefined) return false;
    // Its close event comes later, and another connection may come before that.
    this.#connections.delete(first);
    first.destroy();
    return true;
  }

  /** The timer runs only while there are connections, so that an idle process never wakes up for it. */
  async #watch(): Promise<void> {
    if (this.#watching) return;
    this.#watching = true;
    try {
      while (this.#connections.size > 0) {
        const nowMs = this.#clock.monotonic();
        let nextMs = nowMs + FIRST_REQUEST_MS;
        for (const [socket, { dueMs }] of this.#connections) {
          if (dueMs <= nowMs) socket.destroy();
          else nextMs = Math.min(nextMs, dueMs);
        }
        await this.#clock.sleep(nextMs - nowMs, this.#ended.signal);
      }
    } catch {
      // The server has ended.
    } finally {
      this.#watching = false;
    }
  }
}
