/**
 * Finds out whether a process listens.
 * @module
 */
import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";

/**
 * Opens a connection and closes it again. Sends nothing.
 *
 * @throws the error of the socket, or an error when the signal aborts
 */
export async function tryConnect(target: NetConnectOpts, signal: AbortSignal): Promise<void> {
  const socket = connect(target);
  // It may still fail after the abort, when `once` no longer listens.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect", { signal });
  } finally {
    socket.destroy();
  }
}
