/**
 * A simulated CloudStack without sockets: requests in, outcomes out.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { assert } from "../../core/errors.ts";
import type { Outcome } from "../loopback.ts";
import type { User } from "./access/accounts.ts";
import { Auth, type Caller, toThrottled } from "./access/auth.ts";
import { type Call, type Command, toPage } from "./commands/call.ts";
import { findCommand, isRead } from "./commands/mod.ts";
import { type Fault, Faults, toJobFate } from "./faults.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import {
  ApiError,
  type ReplyOptions,
  toEnvelopeKey,
  toErrorBody,
  toHidden,
  toHtml,
  toListBody,
  toReply,
  toUnverified,
} from "./replies.ts";
import { RequestLog } from "./requests.ts";
import { type Settings, toSettings } from "./settings.ts";
import { type Job, Jobs } from "./world/jobs.ts";
import type { World } from "./world/records.ts";
import { CloudStackState } from "./world/state.ts";

/** What a {@linkcode CloudStack} needs. */
export interface CloudStackOptions {
  readonly clock: Clock;
  /** Objects it starts with. At least one user. */
  readonly world: World;
  /** Settings other than those of a new installation. */
  readonly settings?: Partial<Settings>;
  /** Ends its jobs and delays. */
  readonly signal: AbortSignal;
}

const PATH = "/client/api";
/** Where people see it in a browser. */
const UI_PATH = "/client/";

/** A CloudStack. Its clock judges `expires`, and dates its answers: a client must use the same one. */
export class CloudStack {
  readonly state: CloudStackState;
  /** The first user, whose keys and role a test may change in place. */
  readonly user: User;
  /** The server's settings; a test may change them in place. */
  readonly settings: Settings;
  readonly jobs: Jobs;
  readonly faults: Faults = new Faults();
  readonly requests: RequestLog = new RequestLog();
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor({ clock, world, settings, signal }: CloudStackOptions) {
    this.state = new CloudStackState(world);
    const [user] = this.state.users.values();
    assert(user !== undefined, "there is no user");
    this.user = user;
    this.settings = toSettings(settings);
    const shared = { clock, state: this.state, settings: this.settings };
    this.jobs = new Jobs({ clock, durationMs: () => this.settings.jobMs, signal });
    this.#api = new Api({ ...shared, auth: new Auth(shared), jobs: this.jobs });
    this.#clock = clock;
    this.#signal = signal;
  }

  /**
   * Decides what happens to a request, and answers it if it gets an answer.
   *
   * @param onWait Called when the answer is delayed on purpose, and when the delay ends
   * @throws the signal's reason, when it ends a delay
   */
  async answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    const { faults, requests } = this;
    const { method } = request;
    const { pathname } = new URL(request.url);
    if (pathname === UI_PATH)
      return toOutcome(toHtml(200, "This CloudStack is simulated: it has no pages"));
    if (pathname !== PATH) return toOutcome(toHtml(404, "404 Not Found"));
    if (method !== "GET" && method !== "POST") return toOutcome(toHtml(405, "405 Not Allowed"));
    const parameters = await readParameters(request);
    requests.add(method, parameters.command, parameters.byName);
    const fault = faults.take(parameters.command, parameters.byName);
    if (fault?.kind === "hang" || fault?.kind === "reset") return { kind: fault.kind };
    if (fault?.kind === "delay") {
      onWait?.(true);
      await this.#clock.sleep(fault.ms, this.#signal).finally(() => onWait?.(false));
    }
    const replaced = fault && toForeignReply(fault);
    if (replaced !== undefined) return toOutcome(replaced);
    const response = this.#api.answer(method, parameters, fault);
    // The command is carried out; only its answer is lost.
    if (fault?.kind === "resetAfter") return { kind: "reset" };
    if (fault?.kind === "hangAfter") return { kind: "hang" };
    return { kind: "reply", response, isHalf: fault?.kind === "halfBody" };
  }
}

function toOutcome(response: Response): Outcome {
  return { kind: "reply", response, isHalf: false };
}

/** The answer of another server in between, which never asked CloudStack. */
function toForeignReply(fault: Fault): Response | undefined {
  switch (fault.kind) {
    case "html":
      return toHtml(fault.status, fault.status === 502 ? "502 Bad Gateway" : `${fault.status}`);
    case "json":
      return Response.json(fault.body, { status: fault.status ?? 200 });
    case "redirect":
      return new Response(undefined, { status: 302, headers: { location: fault.location } });
    default:
      return undefined;
  }
}

/** What an {@linkcode Api} needs. */
interface ApiOptions {
  readonly auth: Auth;
  readonly state: CloudStackState;
  readonly settings: Settings;
  readonly jobs: Jobs;
}

/** What a 429 that a fault makes asks a client to wait. */
const FAULT_WAIT_MS = 1_000;

/** Answers commands. */
class Api {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /**
   * Carries out a command.
   *
   * @param fault What is wrong with the server; faults between it and the client are not its business
   */
  answer(method: string, parameters: Parameters, fault?: Fault): Response {
    const { command } = parameters;
    try {
      if (fault?.kind === "error") throw toFaultError(fault);
      const known = findCommand(command);
      // An unknown command is refused like a wrong signature.
      if (known === undefined) throw toUnverified();
      const caller = this.#identify(method, parameters);
      const body = this.#run(known, { caller, parameters }, fault);
      return toReply(toEnvelopeKey(command), body, this.#toReplyOptions());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refuse(error, parameters);
    }
  }

  #identify(method: string, parameters: Parameters): Caller {
    const { auth, settings } = this.#options;
    const { command } = parameters;
    if (settings.enforcesPostAndTimestamps && method !== "POST" && !isRead(command)) {
      const text = `State changing command ${command} needs to be sent using POST request`;
      throw new ApiError(405, text);
    }
    const caller = auth.identify(parameters);
    const name = parameters.findUnprintable();
    if (name === undefined) return caller;
    const text = `Received value for parameter ${name} is invalid, contains illegal ASCII non-printable characters`;
    throw new ApiError(431, text);
  }

  #run(command: Command, request: Pick<Call, "caller" | "parameters">, fault?: Fault): object {
    const { auth, state, settings, jobs } = this.#options;
    const call: Call = { ...request, state, settings, nowMs: auth.now(), jobs: jobs.all };
    switch (command.kind) {
      case "list": {
        const list = command.run(call);
        return toListBody(toPage(list, call.parameters, settings.defaultPageSize, fault));
      }
      case "answer":
        return command.run(call);
      case "job":
        return { jobid: this.#start(command, call, fault).id };
      case "create": {
        const { id, instanceId } = this.#start(command, call, fault);
        return { id: instanceId, jobid: id };
      }
    }
  }

  #start(
    { run }: Extract<Command, { readonly kind: "job" | "create" }>,
    call: Call,
    fault?: Fault,
  ): Job {
    const { user, account } = call.caller;
    const starter = { userId: user.id, accountId: account.id, command: call.parameters.command };
    return this.#options.jobs.start({ ...run(call), ...starter }, toJobFate(fault));
  }

  #refuse(error: ApiError, parameters: Parameters): Response {
    const { command } = parameters;
    const isNamed = findCommand(command) !== undefined && error.code !== 432;
    const key = isNamed ? toEnvelopeKey(command) : "errorresponse";
    return toReply(key, toErrorBody(error), this.#toReplyOptions(), error.code);
  }

  #toReplyOptions(): ReplyOptions {
    const { auth, settings } = this.#options;
    const { jsonType, sendsDate } = settings;
    return sendsDate ? { jsonType, nowMs: auth.now() } : { jsonType };
  }
}

function toShuttingDown(): ApiError {
  const text =
    "Maintenance or Shutdown has been initiated on this management server. Can not accept new jobs";
  return new ApiError(503, text);
}

function toFaultError({ code, text }: Extract<Fault, { kind: "error" }>): ApiError {
  if (text !== undefined) return new ApiError(code, text);
  switch (code) {
    case 401:
      return toUnverified();
    case 429:
      return toThrottled(FAULT_WAIT_MS);
    case 503:
      return toShuttingDown();
    case 530:
      return toHidden();
    case 531:
      return new ApiError(
        531,
        "Caller does not have permission to operate with the resource",
        4365,
      );
    default:
      return new ApiError(code, `Command failed with code ${code}`);
  }
}
