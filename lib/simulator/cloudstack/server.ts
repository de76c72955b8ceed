/**
 * Runs the simulated CloudStack on loopback, faults included.
 * @module
 */
import type { IncomingMessage } from "node:http";
import { Loopback } from "../loopback.ts";
import { CloudStack, type CloudStackOptions } from "./cloudstack.ts";

/** What {@linkcode startCloudStackSimulator} takes. */
interface CloudStackSimulatorOptions extends Omit<CloudStackOptions, "signal"> {
  /** @default {0, a free one} */
  readonly port?: number;
}

/** A running simulator. */
export interface CloudStackSimulator extends Pick<CloudStack, keyof CloudStack> {
  /** The whole endpoint: `http://127.0.0.1:<port>/client/api`. */
  readonly url: string;
  /** Keys of the first user as they are now. */
  readonly apiKey: string;
  readonly secretKey: string;
  /** Requests that wait for an answer that is late or never comes. */
  readonly hanging: ReadonlySet<IncomingMessage>;
  /** Stops listening: new connections are refused, old ones are closed. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  accept(): Promise<void>;
  /** Stops for good. */
  stop(): Promise<void>;
}

/** Starts a simulated CloudStack on 127.0.0.1. Resolves once it answers. */
export async function startCloudStackSimulator({
  port,
  ...options
}: CloudStackSimulatorOptions): Promise<CloudStackSimulator> {
  const stopped = new AbortController();
  const cloud = new CloudStack({ ...options, signal: stopped.signal });
  const loopback = new Loopback(async (request, onWait) => {
    const outcome = await cloud.answer(request, onWait);
    if (outcome.kind !== "reply" || !takesGzip(request)) return outcome;
    return { ...outcome, response: await compress(outcome.response) };
  });
  await loopback.listen(port);
  const { state, user, settings, jobs, faults, requests } = cloud;
  return {
    url: `${loopback.url}/client/api`,
    get apiKey() {
      return user.apiKey;
    },
    get secretKey() {
      return user.secretKey;
    },
    answer: (request, onWait) => cloud.answer(request, onWait),
    state,
    user,
    settings,
    jobs,
    faults,
    requests,
    hanging: loopback.hanging,
    refuse: () => loopback.close(),
    accept: () => loopback.listen(),
    stop: async () => {
      stopped.abort();
      await loopback.close();
    },
  };
}

function takesGzip(request: Request): boolean {
  return /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
}

async function compress(response: Response): Promise<Response> {
  const body = Bun.gzipSync(await response.arrayBuffer());
  const headers = new Headers(response.headers);
  headers.set("content-encoding", "gzip");
  headers.set("content-length", String(body.length));
  return new Response(body, { status: response.status, headers });
}
