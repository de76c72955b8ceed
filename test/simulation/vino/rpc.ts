/**
 * JSON-RPC between a process and Xen Orchestra: each message crosses the network as a request does.
 * @module
 */
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import type { XenOrchestra } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { Link } from "../world/link.ts";
import type { Peer } from "../world/socket.ts";

/** Opens a connection. @param options.onSend Told of each message as it is sent */
export function openRpc(
  cloud: XenOrchestra,
  link: Link,
  { signal, onSend }: { readonly signal: AbortSignal; readonly onSend: (message: string) => void },
): Peer {
  const session = cloud.openSession();
  // The connection ends with the process of the server that it was opened to.
  let life: AbortSignal | undefined;
  const serve = async (message?: string): Promise<Outcome> => {
    if (!cloud.life.isUp || life?.aborted === true) return { kind: "reset" };
    life = cloud.life.signal;
    try {
      const text = message === undefined ? "" : await session.answer(message);
      return { kind: "reply", response: new Response(text), isHalf: false };
    } catch {
      return { kind: "reset" };
    }
  };
  return {
    open: async () => void (await link.send(() => serve(), signal)),
    answer: async (message) => {
      onSend(message);
      return await (await link.send(() => serve(message), signal)).text();
    },
  };
}
