/**
 * Reads the Nodes from the debug pages of a running process.
 * @module
 */
import { parseJson } from "../../core/text/values.ts";
import * as v from "valibot";
import { withDeadline } from "../../core/clock.ts";
import { describeError, findErrorCode } from "../../core/errors.ts";
import { readText } from "../../core/http/request.ts";
import { toConnectionProblem } from "../../core/http/connection.ts";
import { formatListenAddress, type ListenAddress } from "../../core/net/listen_address.ts";
import type { NodeView } from "../../http/views.ts";

const ANSWER_MS = 30_000;
/** Most bytes of an answer: 5,000 Nodes need about 15 MiB. */
const BYTES_MAX = 256 * 1024 * 1024;
/** The system reports one of these where no process listens. */
const NOT_LISTENING: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOENT",
  "FailedToOpenSocket",
]);

const text = v.exactOptional(v.string());
const texts = v.record(v.string(), v.string());
const addresses = v.array(v.looseObject({ type: v.string(), address: v.string() }));

/** What is shown of a Node; everything else stays for `-o json`. */
const NODE = v.looseObject({
  name: v.string(),
  providerId: text,
  wantedProviderId: text,
  isUninitialized: v.exactOptional(v.boolean()),
  matchedBy: text,
  places: v.exactOptional(v.array(v.looseObject({ kind: v.string(), id: v.string(), name: text }))),
  presence: v.looseObject({
    kind: v.picklist(["present", "absent", "unknown", "foreign"]),
    reason: text,
    message: text,
  }),
  instance: v.nullable(
    v.looseObject({ id: v.string(), name: v.string(), state: v.string(), details: texts }),
  ),
  labels: v.looseObject({ wanted: v.exactOptional(texts), actual: texts }),
  addresses: v.looseObject({ wanted: v.exactOptional(addresses), actual: addresses }),
  ready: v.string(),
  deletion: v.exactOptional(v.looseObject({ state: v.string(), reason: text, message: text })),
  lastReconcile: v.nullable(v.looseObject({ at: v.string(), outcome: v.string(), error: text })),
  nextReconcileAt: text,
});
const NODES = v.looseObject({ nodes: v.array(NODE) });
/** The age is null before the first answer of the cloud. */
const INVENTORY = v.looseObject({
  ageSeconds: v.exactOptional(v.nullable(v.number())),
  lastError: text,
});

/**
 * Reads all Nodes.
 *
 * @param address As given by `--debug-address`
 * @returns `undefined` when no process listens there
 * @throws {Error} when the answer is not that of Landfall
 * @throws the signal's reason
 */
export async function readFromProcess(
  address: ListenAddress,
  signal: AbortSignal,
): Promise<NodeView[] | undefined> {
  const where = formatListenAddress(address);
  const fail = (problem: string, cause?: unknown): Error =>
    new Error(`cannot read the Nodes from ${where}: ${problem}`, { cause });
  const deadline = withDeadline(signal, ANSWER_MS);
  let reply: Response;
  let body: string;
  try {
    reply = await request(address, "/debug/nodes", deadline);
    body = await readText(reply, { bytesMax: BYTES_MAX });
  } catch (error) {
    signal.throwIfAborted();
    if (NOT_LISTENING.has(findErrorCode(error))) return undefined;
    if (deadline.aborted) throw fail(`no answer within ${ANSWER_MS / 1_000} s`, error);
    throw fail(describeError(toConnectionProblem(error)), error);
  }
  if (reply.status === 404) {
    throw fail("this is not Landfall, or Landfall without a controller that needs a cloud");
  }
  if (!reply.ok) throw fail(`it answers with status ${reply.status}`);
  const parsed = v.safeParse(NODES, parseJson(body));
  if (!parsed.success) throw fail("this is not Landfall, or another version of it");
  return parsed.output.nodes;
}

/** A cloud that did not answer when a process asked last. */
export interface CloudSilence {
  readonly problem: string;
  /** Whether the cloud answered that process before. */
  readonly hasAnswered: boolean;
}

/**
 * Reads why the cloud did not answer that process when it asked last.
 *
 * @returns `undefined` if it answered, or the process does not say
 * @throws the signal's reason
 */
export async function readCloudSilence(
  address: ListenAddress,
  signal: AbortSignal,
): Promise<CloudSilence | undefined> {
  try {
    const reply = await request(address, "/debug/inventory", withDeadline(signal, ANSWER_MS));
    const body = await readText(reply, { bytesMax: BYTES_MAX });
    const parsed = v.safeParse(INVENTORY, parseJson(body));
    if (!parsed.success || parsed.output.lastError === undefined) return undefined;
    const { lastError: problem, ageSeconds } = parsed.output;
    return { problem, hasAnswered: ageSeconds !== null };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function request(address: ListenAddress, path: string, signal: AbortSignal): Promise<Response> {
  const isSocket = address.kind === "unix";
  const host = isSocket ? "localhost" : formatListenAddress(address);
  return fetch(`http://${host}${path}`, {
    headers: { accept: "application/json" },
    redirect: "manual",
    signal,
    // It is on this machine: a proxy of the environment must not be used.
    proxy: false,
    ...(isSocket && { unix: address.path }),
  });
}
