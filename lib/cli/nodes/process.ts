/**
 * Reads the Nodes from the debug pages of a running process.
 * @module
 */
import { parseJson } from "../../core/text/values.ts";
import * as v from "valibot";
import { formatListenAddress, type ListenAddress } from "../../core/net/listen_address.ts";
import type { NodeView } from "../../http/views.ts";
import { askProcess } from "../debug_process.ts";

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
    v.looseObject({
      id: v.string(),
      name: v.string(),
      state: v.string(),
      details: texts,
      page: text,
    }),
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
  const fail = (problem: string): Error =>
    new Error(`cannot read the Nodes from ${where}: ${problem}`);
  const answer = await askProcess(address, { path: "/debug/nodes", what: "the Nodes" }, signal);
  if (answer === undefined) return undefined;
  const { status, body } = answer;
  if (status === 404) {
    throw fail(
      "it runs no controller that needs a cloud (see its --controllers), or it is not Landfall",
    );
  }
  if (status !== 200) throw fail(`it answers with status ${status}`);
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
    const asked = { path: "/debug/inventory", what: "the inventory" };
    const answer = await askProcess(address, asked, signal);
    const parsed = v.safeParse(INVENTORY, parseJson(answer?.body ?? ""));
    if (!parsed.success || parsed.output.lastError === undefined) return undefined;
    const { lastError: problem, ageSeconds } = parsed.output;
    return { problem, hasAnswered: ageSeconds !== null };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
