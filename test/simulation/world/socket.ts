/**
 * WebSockets in the hands of a simulation, as far as clients with short texts need them.
 * @module
 */

/** The way to the far end of one WebSocket. What it returns or throws reaches the process as it should. */
export interface Peer {
  open(): Promise<void>;
  /** @returns `undefined` for no answer */
  answer(message: string): Promise<string | undefined>;
}

/** Finds the far end. @param signal Aborts when the process closes the socket */
export type Connector = (url: URL, signal: AbortSignal) => Peer;

/** The class that stands where the machine's own `WebSocket` would. */
export function createSocketClass(connect: Connector): new (url: string) => EventTarget {
  return class extends EventTarget {
    readonly #closed = new AbortController();
    readonly #peer: Peer;

    constructor(url: string) {
      super();
      this.#peer = connect(new URL(url), this.#closed.signal);
      this.#peer.open().then(
        () => this.#tell(new Event("open")),
        (error: unknown) => this.#fail(error),
      );
    }

    send(text: string): void {
      this.#peer.answer(text).then(
        (data) => data !== undefined && this.#tell(new MessageEvent("message", { data })),
        (error: unknown) => this.#fail(error),
      );
    }

    close(): void {
      this.#closed.abort(new Error("the socket is closed"));
    }

    /** The runtime tells why in a member that the standard does not have. */
    #fail(error: unknown): void {
      this.#tell(Object.assign(new Event("error"), { error }));
    }

    #tell(event: Event): void {
      if (!this.#closed.signal.aborted) this.dispatchEvent(event);
    }
  };
}
