/**
 * JSON-RPC 2.0 as Xen Orchestra speaks it at `/api/`, with the few methods that have no REST route.
 * @module
 */
import type { Auth, XoUser } from "../auth.ts";
import type { XoRecord } from "../records.ts";
import { toOperation, type Backend, Work } from "../writes/backend.ts";
import { XapiError } from "../writes/errors.ts";
import { changeCd } from "../writes/disks.ts";

/** An error as clients get it. */
class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const NO_SUCH_OBJECT = 1;
const NOT_ENOUGH_PERMISSIONS = 2;
const INVALID_CREDENTIALS = 3;
const INVALID_PARAMETERS = 10;
const METHOD_NOT_FOUND = -32_601;
const METHODS: ReadonlySet<string> = new Set([
  "system.getServerVersion",
  "acl.getCurrentPermissions",
  "vm.setBootOrder",
  "vm.insertCd",
  "vm.ejectCd",
]);
const OTHER = -32_000;

/** What a {@linkcode RpcSession} needs. */
interface RpcOptions {
  readonly auth: Auth;
  readonly backend: Backend;
}

type Parameters = Readonly<Record<string, unknown>>;

/** One connection. It knows its user after `session.signIn`. */
export class RpcSession {
  readonly #options: RpcOptions;
  #user: XoUser | undefined;

  constructor(options: RpcOptions) {
    this.#options = options;
  }

  /** Answers a message. @throws what ends a process that is killed meanwhile */
  async answer(message: string): Promise<string | undefined> {
    const { id = null, method, params }: Parameters = Object(JSON.parse(message));
    const life = this.#options.backend.life.signal;
    const reply = await this.#call(String(method), Object(params)).then(
      (result) => ({ jsonrpc: "2.0", id, result }),
      (error: unknown) => ({ jsonrpc: "2.0", id, error: toError(error) }),
    );
    life.throwIfAborted();
    return JSON.stringify(reply);
  }

  async #call(method: string, params: Parameters): Promise<unknown> {
    if (method === "session.signIn") return this.#signIn(params);
    // Known or not, before it matters who asks.
    if (!METHODS.has(method))
      throw new RpcError(METHOD_NOT_FOUND, `method not found: ${method}`, method);
    if (method === "system.getServerVersion") return "5.207.2";
    if (this.#user === undefined)
      throw new RpcError(NOT_ENOUGH_PERMISSIONS, "not enough permissions");
    if (method === "acl.getCurrentPermissions") return listOldRights(this.#user);
    if (method === "vm.setBootOrder") return await this.#setBootOrder(this.#user, params);
    return await this.#changeCd(this.#user, method, params);
  }

  #signIn({ token, email, password }: Parameters): unknown {
    const { auth } = this.#options;
    try {
      const basic = Buffer.from(`${String(email)}:${String(password)}`).toString("base64");
      this.#user = auth.identify(
        typeof token === "string"
          ? { cookie: `token=${token}`, authorization: undefined }
          : { cookie: undefined, authorization: `Basic ${basic}` },
      );
    } catch {
      throw new RpcError(INVALID_CREDENTIALS, "invalid credentials");
    }
    const permission = this.#user?.privileges === undefined ? "admin" : "none";
    return { id: this.#user?.id, email: this.#user?.username, permission };
  }

  async #changeCd(user: XoUser, method: string, params: Parameters): Promise<true> {
    const { id, cd_id: cdId, force: _force, ...others } = params;
    const isInsert = method === "vm.insertCd";
    const isRight = typeof id === "string" && (typeof cdId === "string") === isInsert;
    if (!isRight || Object.keys(others).length > 0) {
      throw new RpcError(INVALID_PARAMETERS, "invalid parameters", { errors: [] });
    }
    const { backend } = this.#options;
    const work = new Work(backend, user.id);
    const [machine, disk] = [
      backend.state.read("vms", id),
      backend.state.read("vdis", String(cdId)),
    ];
    for (const [found, asked] of [[machine, id], ...(isInsert ? [[disk, cdId]] : [])]) {
      if (!found)
        throw new RpcError(NO_SUCH_OBJECT, `no such object ${String(asked)}`, { id: asked });
    }
    if (machine === undefined || !isOperator(user, machine)) {
      throw new RpcError(NOT_ENOUGH_PERMISSIONS, "not enough permissions");
    }
    await changeCd(work, machine, isInsert ? disk : undefined);
    return true;
  }

  async #setBootOrder(user: XoUser, { vm: id, order, ...others }: Parameters): Promise<true> {
    if (typeof id !== "string" || typeof order !== "string" || Object.keys(others).length > 0) {
      throw new RpcError(INVALID_PARAMETERS, "invalid parameters", { errors: [] });
    }
    const { backend } = this.#options;
    const machine = backend.state.read("vms", id) ?? backend.state.read("vm-templates", id);
    if (machine === undefined) {
      throw new RpcError(NO_SUCH_OBJECT, `no such object ${id}`, { id });
    }
    if (!isOperator(user, machine)) {
      throw new RpcError(NOT_ENOUGH_PERMISSIONS, "not enough permissions");
    }
    const work = new Work(backend, user.id);
    await work.call(toOperation("VM.set_HVM_boot_params", machine), () => {
      machine["boot"] = { ...Object(machine["boot"]), order };
    });
    return true;
  }
}

/** Only what old ACLs say; an administrator needs none. */
function listOldRights({ operatorOf = [] }: XoUser): object {
  return Object.fromEntries(operatorOf.map((id) => [id, { view: 1, operate: 1 }]));
}

/** Rights of roles mean nothing here. */
function isOperator({ privileges, operatorOf = [] }: XoUser, machine: XoRecord): boolean {
  if (privileges === undefined) return true;
  return operatorOf.includes(machine.id) || operatorOf.includes(String(machine["$pool"]));
}

function toError(error: unknown): object {
  if (error instanceof RpcError) {
    return { code: error.code, message: error.message, data: error.data };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof XapiError)) return { code: OTHER, message, data: {} };
  return { code: OTHER, message, data: { code: error.code, params: error.params } };
}
