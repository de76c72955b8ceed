/**
 * The connections of a server: how many there may be, and how long each may wait.
 * @module
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../core/clock.ts";
import { parseIp } from "../../core/net/ip.ts";

/** From the first packet to the end of the first request's head, the handshake of TLS included. */
const FIRST_REQUEST_MS = 10_000;
/** From an answer to the end of the next request's head. */
const NEXT_REQUEST_MS = 30_000;
/** From a request to the last byte of its answer that the other side took. */
const ANSWER_MS = 30_000;
/** An answer that was not read in this time may be cut off to make room for others; a probe takes milliseconds. */
const SLOW_MS = 1_000;
/** Requests that one connection may have sent ahead of its answers. */
const PIPELINE_MAX = 8;

/** What a connection waits for. */
interface Connection {
  /** Requests whose answers were not taken yet. */
  running: number;
  /** Monotonic milliseconds at which it is cut off. */
  dueMs: number;
  /** Whether it ends with what is running. */
  isLast: boolean;
  /** Where it comes from. */
  readonly origin: string;
}

/**
 * Counts connections and cuts off those that take too long. If there is no room for one more, it cuts off a connection
 * that sends no request, or else one that does not read its answer: the oldest from the address that has most. So a
 * probe gets through even if a client holds connections open, or opens thousands of them.
 */
export class Connections {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #ended = new AbortController();
  #watching = false;
  #isClosing = false;

  /** @param max How many there may be at once */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How many there are. */
  get size(): number {
    return this.#connections.size;
  }

  /**
   * Adds a connection, until it ends.
   *
   * @param origin The address that it comes from, where it has one; `::ffff:192.0.2.1` is 192.0.2.1
   */
  add(socket: Duplex, origin = ""): void {
    if (this.#connections.size >= this.#max && !this.#cutIdle() && !this.cutSlow())
      socket.destroy();
    if (socket.destroyed || this.#isClosing) {
      socket.destroy();
      return;
    }
    socket.once("close", () => this.#connections.delete(socket));
    // Readers have their own error listeners; without any listener an error would end the process.
    socket.on("error", () => socket.destroy());
    const dueMs = this.#after(FIRST_REQUEST_MS);
    const place = parseIp(origin)?.text ?? origin;
    this.#connections.set(socket, { running: 0, dueMs, isLast: false, origin: place });
    void this.#watch();
  }

  /** Notes a request. @returns Whether the connection may have it answered: not with too many unanswered before it */
  begin(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.running >= PIPELINE_MAX) return false;
    connection.running += 1;
    // More requests give no more time for the answers before theirs.
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

  /** Ends a connection after the last answer that it waits for. @returns Whether it waits for any */
  finish(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.running === 0) return false;
    connection.isLast = true;
    return true;
  }

  /** Cuts off one that has not taken its answer for long. @returns Whether there was any */
  cutSlow(): boolean {
    const latestMs = this.#clock.monotonic() + ANSWER_MS - SLOW_MS;
    return this.#cutFirst(({ running, dueMs }) => running > 0 && dueMs <= latestMs);
  }

  /** From now on a connection ends with its last answer, and accepts no request after it. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, { running }] of this.#connections) if (running === 0) socket.destroy();
  }

  /** Cuts off all. */
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

  /** Of those that fit, the one that would be cut off first of the place that has most. */
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
    // It closes a turn later, and another may come before that.
    this.#connections.delete(first);
    first.destroy();
    return true;
  }

  /** Runs while there are connections: an idle process never wakes up for this. */
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
