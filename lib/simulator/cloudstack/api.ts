/**
 * `/client/api` without sockets and faults of the network: a command's parameters in, an answer out.
 * @module
 */
import { toThrottled, type Auth, type Caller } from "./access/auth.ts";
import { findCommand, isRead } from "./commands/mod.ts";
import type { Call, Command } from "./commands/call.ts";
import { toPage } from "./commands/paging.ts";
import { toJobFate, type Fault } from "./faults.ts";
import type { Parameters } from "./parameters.ts";
import {
  ApiError,
  toEnvelopeKey,
  toErrorBody,
  toHidden,
  toListBody,
  toReply,
  toUnverified,
  type ReplyOptions,
} from "./replies.ts";
import type { Settings } from "./settings.ts";
import type { Job, Jobs } from "./world/jobs.ts";
import type { CloudStackState } from "./world/state.ts";

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
export class Api {
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
