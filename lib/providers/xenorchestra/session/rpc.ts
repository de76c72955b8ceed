/**
 * Calls of Xen Orchestra's JSON-RPC API, for what its REST API cannot do.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import {
  type CloudClient,
  type ServerNames,
  toConnectionError,
} from "../../../cloud_http/client.ts";
import type { OpenSocket } from "../../../core/http/web_socket.ts";
import type { Fence } from "../../../core/fence.ts";
import { parseReply } from "../../../core/http/request.ts";
import { ConnectionProblem } from "../../../core/http/connection.ts";

/** A call. */
export interface RpcCall {
  /** For metrics: `set_boot_order`. */
  readonly operation: string;
  /** `vm.setBootOrder`. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Xen Orchestra refused a call. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** 1 no such object, 2 not enough permissions, 3 invalid credentials, 5 forbidden, 10 invalid parameters. */
  readonly code: number;
  /** The hypervisor's own code, if it refused: `OTHER_OPERATION_IN_PROGRESS`. */
  readonly reason: string | undefined;

  constructor(code: number, message: string, reason: string | undefined) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** How a call is sent. */
interface RpcRoute {
  /** As in the settings. */
  readonly url: string;
  readonly client: Pick<CloudClient, "openWebSocket">;
  readonly token: string;
  readonly fence: Pick<Fence, "bind" | "check">;
  /** For messages. */
  readonly names: ServerNames;
}

/** Xen Orchestra does not accept the token. */
const INVALID_CREDENTIALS = 3;
const MESSAGE_CHARS_MAX = 200;

/**
 * Calls one method on a connection of its own, signed in with a token.
 *
 * @param signal Must include the deadline
 * @returns The status 401 if Xen Orchestra does not accept the token
 * @throws {RpcError} if it refuses the call
 * @throws {CloudError} if there is no answer
 * @throws {LeadershipLostError} when this process does not lead
 */
export async function sendRpc(
  { operation, method, params }: RpcCall,
  { url, client, token, fence, names }: RpcRoute,
  signal: AbortSignal,
): Promise<{ readonly status: 200 | 401; readonly result?: unknown }> {
  const asked = { operation, url: `${url}/api/` };
  const socket = await client.openWebSocket(asked, fence.bind(signal));
  try {
    if (!(await signIn(socket, token))) return { status: 401 };
    fence.check();
    return { status: 200, result: await call(socket, 2, { method, params }) };
  } catch (error) {
    throw error instanceof ConnectionProblem ? toConnectionError(error, url, names) : error;
  } finally {
    socket.close();
  }
}

/** @returns Whether Xen Orchestra accepts the token */
async function signIn(socket: OpenSocket, token: string): Promise<boolean> {
  try {
    await call(socket, 1, { method: "session.signIn", params: { token } });
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.code === INVALID_CREDENTIALS) return false;
    throw error;
  }
}

/** Messages about anything else are ignored: an administrator gets one for each change of any object. */
async function call(
  socket: OpenSocket,
  id: number,
  { method, params }: Omit<RpcCall, "operation">,
): Promise<unknown> {
  socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  for (;;) {
    const message = parse(await socket.receive());
    if (message["id"] !== id) continue;
    if ("error" in message) throw toRpcError(message["error"]);
    return message["result"];
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseReply(text);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // The same as another value.
  }
  const message = "Xen Orchestra sent no JSON-RPC at /api/; check url, and what is in between";
  throw new CloudError("protocol", message);
}

function toRpcError(error: unknown): RpcError {
  const { code, message, data }: Readonly<Record<string, unknown>> = Object(error);
  const { code: reason }: Readonly<Record<string, unknown>> = Object(data);
  return new RpcError(
    typeof code === "number" ? code : 0,
    String(message ?? "").slice(0, MESSAGE_CHARS_MAX),
    typeof reason === "string" ? reason : undefined,
  );
}
