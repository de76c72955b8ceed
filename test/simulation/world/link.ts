/**
 * The way between one process and one server: slow, lossy, severed, or fine.
 * @module
 */
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import type { Process } from "./process.ts";
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";

/** What a {@linkcode Link} joins. */
interface LinkOptions {
  readonly process: Process;
  readonly timeline: Timeline;
  readonly random: Random;
  /** Told of each piece of a stream as it reaches the process. */
  readonly onPiece?: ((piece: Uint8Array) => void) | undefined;
}

/** A request under way, or a stream that is open. */
interface Call {
  /** Breaks it off, as both ends see it. */
  readonly cut: (error: Error) => void;
}

/** How soon what waits in the network finds out that it is whole again. */
const HEAL_POLL_MS = 250;
const NEVER = new Promise<never>(() => undefined);

/** One way. What a server did stays done, whether or not the answer arrives. */
export class Link {
  readonly #options: LinkOptions;
  readonly #calls = new Set<Call>();
  #stalls = 0;
  /** How long a request takes each way, at least and at most, in milliseconds. */
  delayMs: readonly [number, number] = [1, 4];
  /** How much later the pieces of a stream arrive, in milliseconds. */
  lagMs = 0;
  /** How many of the requests are lost, half of them on their way there and half of the answers on their way back. */
  lossShare = 0;
  /** Nothing passes: requests hang, streams stand still until this is over. */
  isSevered = false;
  /** Nobody listens at the other end. */
  isRefused = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** How many requests are under way and streams open. */
  get size(): number {
    return this.#calls.size;
  }

  /** Breaks off everything that is under way or open. */
  reset(): void {
    for (const call of this.#calls) call.cut(toFault("ECONNRESET"));
  }

  /** Streams that are open deliver nothing from now on, and nobody says so. */
  stall(): void {
    this.#stalls += 1;
  }

  /** Is as fast again as it was. */
  calm(): void {
    this.delayMs = [1, 4];
    this.lagMs = 0;
  }

  /** Ends what goes wrong. A stream that stalled stays so: its connection is lost. */
  heal(): void {
    this.calm();
    this.lossShare = 0;
    this.isSevered = false;
    this.isRefused = false;
  }

  /**
   * Sends a request.
   *
   * @param serve What the server does with it, once it is there
   * @param signal Hangs up; the request may arrive all the same
   * @throws an error with a code, as of a socket, or the signal's reason
   */
  send(serve: () => Promise<Outcome>, signal: AbortSignal): Promise<Response> {
    const { process } = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        signal.removeEventListener("abort", abort);
        if (this.#calls.delete(call)) process.enter(() => reject(error));
      };
      const abort = (): void => fail(signal.reason);
      const call: Call = { cut: fail };
      this.#calls.add(call);
      signal.addEventListener("abort", abort, { once: true });
      const arrive = (outcome: Outcome): void => {
        if (outcome.kind === "hang") return;
        if (outcome.kind === "reset") return fail(toFault("ECONNRESET"));
        // What listens keeps a joined signal for as long as any that it was joined of, and so all that it holds.
        signal.removeEventListener("abort", abort);
        if (!this.#calls.delete(call)) return void outcome.response.body?.cancel();
        const response = this.#toArriving(outcome, signal);
        process.enter(() => resolve(response));
      };
      this.#travel(serve).then(arrive, fail);
    });
  }

  async #travel(serve: () => Promise<Outcome>): Promise<Outcome> {
    const { random } = this.#options;
    const isLost = random.chance(this.lossShare);
    const isLostBack = isLost && random.chance(0.5);
    await this.#wait();
    if (this.isRefused) throw toFault("ECONNREFUSED");
    if (this.isSevered) return { kind: "hang" };
    if (isLost && !isLostBack) throw toFault("ECONNRESET");
    const outcome = await serve();
    await this.#wait();
    if (!this.isSevered && !isLostBack) return outcome;
    // The server finds out that nobody reads.
    if (outcome.kind === "reply") void outcome.response.body?.cancel();
    if (this.isSevered) return { kind: "hang" };
    throw toFault("ECONNRESET");
  }

  async #wait(): Promise<void> {
    const { timeline, random } = this.#options;
    await timeline.pass(random.between(...this.delayMs));
  }

  #toArriving({ response, isHalf }: Outcome & { kind: "reply" }, signal: AbortSignal): Response {
    const { status, headers, body } = response;
    // Half of what never ends is all of it.
    if (body === null || !isEndless(response)) return isHalf ? toHalf(response) : response;
    return new Response(this.#carry(body, signal), { status, headers });
  }

  /** Hands on a stream piece by piece, as far as both ends and the way between them allow. */
  #carry(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { process, timeline, onPiece } = this.#options;
    const reader = body.getReader();
    const stalls = this.#stalls;
    let end: (error?: unknown) => void = () => undefined;
    const call: Call = { cut: (error) => end(error) };
    const abort = (): void => end(signal.reason);
    const stop = (): void => {
      this.#calls.delete(call);
      signal.removeEventListener("abort", abort);
      reader.cancel().catch(() => undefined);
    };
    this.#calls.add(call);
    signal.addEventListener("abort", abort, { once: true });
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          end = (error) => {
            if (!this.#calls.has(call)) return;
            stop();
            process.enter(() => (error ? controller.error(error) : controller.close()));
          };
        },
        pull: async (controller) => {
          if (this.#stalls > stalls) return await NEVER;
          const piece = await reader.read().catch((error: unknown) => ({ error }));
          if (this.lagMs > 0) await timeline.pass(this.lagMs);
          if (this.#stalls > stalls) return await NEVER;
          while (this.isSevered) await timeline.pass(HEAL_POLL_MS);
          await new Promise<void>((resolve) => process.enter(resolve));
          if (!this.#calls.has(call)) return;
          if ("error" in piece) end(piece.error);
          else if (piece.value === undefined) end();
          else {
            onPiece?.(piece.value);
            controller.enqueue(piece.value);
          }
        },
        cancel: stop,
      },
      { highWaterMark: 0 },
    );
  }
}

function isEndless({ headers }: Response): boolean {
  return headers.get("content-type") === "text/event-stream" || headers.has("x-endless");
}

/** An error as a socket gives it. */
function toFault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The head and half of the body, then the end of the connection. */
function toHalf(response: Response): Response {
  const { status, headers } = response;
  const half = new ReadableStream<Uint8Array>({
    async start(controller) {
      const whole = new Uint8Array(await response.arrayBuffer());
      controller.enqueue(whole.subarray(0, whole.length >> 1));
      controller.error(toFault("ECONNRESET"));
    },
  });
  return new Response(half, { status, headers });
}
