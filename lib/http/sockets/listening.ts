/**
 * The sockets for an address, with the same meaning as in Kubernetes' own components.
 * @module
 */
import { once } from "node:events";
import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { findErrorCode } from "../../core/errors.ts";
import { withDeadline } from "../../core/clock.ts";
import { tryConnect } from "../../core/http/connection.ts";
import { parseIp } from "../../core/net/ip.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";

/** Sockets that listen. */
export interface Listening {
  readonly servers: readonly Server[];
  /** The requested address, with the port that the system chose. */
  readonly address: ListenAddress;
  /** The address of each socket. */
  readonly addresses: readonly ListenAddress[];
}

/** An IPv6 socket at `::` accepts connections of both families, with any `net.ipv6.bindv6only`. */
const EVERYWHERE = ["::", "0.0.0.0"];
const LOOPBACKS = ["127.0.0.1", "::1"];
/** The machine has no such address, or nothing of its family. The runtime gives no code for the latter. */
const ABSENT: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", ""]);

/**
 * Listens at all sockets of an address that this machine has. `0.0.0.0` and `::` mean every address of both families;
 * without IPv6, of IPv4. `localhost` means both loopback addresses. Any other address means itself. With port 0, all
 * sockets get the same port.
 *
 * @param create Makes a server for each socket
 * @throws {Error} of the socket that cannot listen; with the code `EADDRNOTAVAIL` when the machine has none of them
 */
export async function listenAt(address: ListenAddress, create: () => Server): Promise<Listening> {
  if (address.kind === "unix") {
    const server = create();
    await listen(server, { path: address.path });
    return { servers: [server], address, addresses: [address] };
  }
  const host = parseIp(address.host)?.text ?? address.host.toLowerCase();
  const isEverywhere = EVERYWHERE.includes(host);
  const own = host === "localhost" ? LOOPBACKS : [host];
  const servers: Server[] = [];
  const addresses: ListenAddress[] = [];
  let { port } = address;
  let cause: unknown;
  for (const host of isEverywhere ? EVERYWHERE : own) {
    const server = create();
    try {
      port = await listen(server, { host, port });
    } catch (error) {
      if (!ABSENT.has(findErrorCode(error))) {
        for (const other of servers) other.close();
        throw error;
      }
      cause ??= error;
      continue;
    }
    servers.push(server);
    addresses.push({ kind: "tcp", host, port });
    if (isEverywhere) break;
  }
  if (servers.length === 0) {
    const absence = new Error(`Cannot listen at ${address.host}: no such address`, { cause });
    throw Object.assign(absence, { code: "EADDRNOTAVAIL" });
  }
  return { servers, address: { ...address, port }, addresses };
}

/** @returns The port; 0 for a unix socket */
async function listen(
  server: Server,
  place: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<number> {
  server.listen(place);
  await once(server, "listening");
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : 0;
}

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

async function canConnect(path: string, signal: AbortSignal): Promise<boolean> {
  const deadline = withDeadline(signal, CONNECT_DEADLINE_MS);
  try {
    await tryConnect({ path }, deadline);
    return true;
  } catch {
    signal.throwIfAborted();
    // The process behind it may be too busy to answer: an error is better than two processes.
    return deadline.aborted;
  }
}
