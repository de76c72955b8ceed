/**
 * The sockets for an address, with the same meaning as in Kubernetes' own components.
 * @module
 */
import { lstat, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { withDeadline } from "../../core/clock.ts";
import { findErrorCode } from "../../core/net/connection_problem.ts";
import { parseIp } from "../../core/net/ip.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";

/** The addresses for a host name, in the order in which they are tried. */
export interface ListenPlan {
  readonly hosts: readonly string[];
  /** Whether to use every address that this machine has, or only the first. */
  readonly wanted: "each" | "first";
}

/** Sockets that listen. */
export interface Listening {
  readonly servers: readonly Server[];
  /** The requested address, with the port that the system chose. */
  readonly address: ListenAddress;
  /** The address of each socket. */
  readonly addresses: readonly ListenAddress[];
}

/** An IPv6 socket at `::` accepts connections of both families, with any `net.ipv6.bindv6only`. */
const EVERYWHERE = ["::", "0.0.0.0"] as const;
const LOOPBACKS = ["127.0.0.1", "::1"] as const;
/** The machine has no such address, or nothing of its family. The runtime gives no code for the latter. */
const ABSENT: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", ""]);

/**
 * Resolves a host. `0.0.0.0` and `::` mean every address of both families; without IPv6, of IPv4. `localhost` means
 * both loopback addresses. Any other address means itself.
 */
export function planListening(host: string): ListenPlan {
  const canonical = parseIp(host)?.text ?? host.toLowerCase();
  if (canonical === "0.0.0.0" || canonical === "::") return { hosts: EVERYWHERE, wanted: "first" };
  if (canonical === "localhost") return { hosts: LOOPBACKS, wanted: "each" };
  return { hosts: [canonical], wanted: "each" };
}

/**
 * Listens at all sockets of an address that this machine has. With port 0, all sockets get the same port.
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
  const { hosts, wanted } = planListening(address.host);
  const servers: Server[] = [];
  const addresses: ListenAddress[] = [];
  let { port } = address;
  let cause: unknown;
  for (const host of hosts) {
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
    if (wanted === "first") break;
  }
  if (servers.length === 0) {
    const absence = new Error(`Cannot listen at ${address.host}: no such address`, { cause });
    throw Object.assign(absence, { code: "EADDRNOTAVAIL" });
  }
  return { servers, address: { ...address, port }, addresses };
}

/** @returns The port; 0 for a unix socket */
function listen(
  server: Server,
  place: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen(place, () => {
    server.off("error", reject);
    const bound = server.address();
    resolve(typeof bound === "object" && bound !== null ? bound.port : 0);
  });
  return promise;
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
