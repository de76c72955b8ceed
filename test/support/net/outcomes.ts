/**
 * What a client gets of a server's decision when there is no socket between them.
 * @module
 */

/** An error as a socket gives it. */
export function toFault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The head and half of the body, then the end of the connection. */
export function toHalf(response: Response): Response {
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
