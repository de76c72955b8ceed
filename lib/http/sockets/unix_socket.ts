/**
 * Unix sockets that another process left behind.
 * @module
 */
import { lstat, unlink } from "node:fs/promises";
import { createConnection } from "node:net";
import { withDeadline } from "../../core/clock.ts";
import { findErrorCode } from "../../core/net/connection_problem.ts";

/** What exists at the path of a new socket. */
type SocketPathState = "free" | "live" | "occupied";

const CONNECT_DEADLINE_MS = 1_000;

/**
 * Makes room for a socket: removes a socket without a listener.
 *
 * @returns `free` if a socket can be created now; `live` if a process listens there; `occupied` if the path is not a
 * socket, which then stays
 */
export async function clearSocketPath(path: string, signal: AbortSignal): Promise<SocketPathState> {
  signal.throwIfAborted();
  try {
    if (!(await lstat(path)).isSocket()) return "occupied";
    if (await canConnect(path, signal)) return "live";
    await unlink(path);
  } catch (error) {
    if (findErrorCode(error) !== "ENOENT") throw error;
  }
  return "free";
}

function canConnect(path: string, signal: AbortSignal): Promise<boolean> {
  const deadline = withDeadline(signal, CONNECT_DEADLINE_MS);
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    const end = (isLive: boolean) => (): void => {
      deadline.removeEventListener("abort", onDeadline);
      socket.destroy();
      resolve(isLive);
    };
    // The process behind it may be too busy to answer: an error is better than two processes.
    const onDeadline = end(true);
    deadline.addEventListener("abort", onDeadline, { once: true });
    socket.once("connect", end(true));
    socket.once("error", end(false));
  });
}
