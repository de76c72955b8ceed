/**
 * Does what jump hosts ask for: sets the annotation with which metal3 reboots a host, if the cluster has that host.
 *
 * Users of the jump host can write anything into its ConfigMap, so everything has a limit.
 * @module
 */
import type { SipCluster } from "../../resource/sip_cluster.ts";
import { toJumpHostNames } from "./names.ts";
import { CONFIG_MAPS, type ConfigMap } from "../owned_kinds.ts";
import { REBOOT_REQUEST } from "../../words.ts";
import type { Clock } from "../../../../core/clock.ts";
import { type Fields, parseFields } from "../../../../core/text/values.ts";
import type { DeleteOptions, KubeClient } from "../../../../kube/api/client.ts";
import { isKubeError } from "../../../../kube/api/errors.ts";
import { type Key, toKey } from "../../../../kube/cache/store.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
  DETACHED,
  PAUSED,
  REBOOT,
} from "../../../../kube/kinds/bare_metal_host.ts";
import { pick } from "../../../../kube/kinds/resource.ts";

/** A user asks to reboot a host. */
interface RebootRequest {
  /** A UUID. */
  readonly id: string;
  /** `namespace/name`; which host that is, and whose, is not known yet. */
  readonly host: Key;
}

/** What Landfall did. */
interface RebootAnswer {
  readonly isDone: boolean;
  /** For the user: one line. */
  readonly message: string;
}

/** Keys to write, or with `null` to remove. */
type Changes = Iterable<readonly [key: string, value: string | null]>;

/** What to do with the content of a ConfigMap. */
export interface RequestPlan {
  /** {@linkcode Changes} */
  readonly changes: ReadonlyMap<string, string | null>;
  /** What to answer, the oldest first. */
  readonly pending: readonly RebootRequest[];
  /** When the next answer is old enough to be removed, in milliseconds. */
  readonly recheckMs?: number;
}

/** A request that waited longer is refused: its user is gone by now. Clocks may differ by as much. */
const REQUEST_AGE_MAX_S = 300;
const ANSWER_AGE_MAX_S = 600;
/** For each of pending requests and answers. */
const COUNT_MAX = 20;
/** More is removed the next time. */
const REMOVED_MAX = 1_000;
const LENGTH_MAX = 1_000;

const KEY = /^(request|answer)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const NAME = "[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?";
const HOST = new RegExp(`^${NAME}/${NAME}$`);

/** Sorts the content of a ConfigMap. @param data From the API server, unchecked */
export function planRequests(data: object, nowMs: number): RequestPlan {
  const nowS = nowMs / 1_000;
  const entries = Object.entries(data);
  const changes = new Map<string, string | null>();
  const kept = sortAnswers(entries, nowS, changes);
  const found: (RebootRequest & { readonly time: number })[] = [];
  const refused: { readonly id: string; readonly why: string }[] = [];
  for (const [key, value] of entries) {
    const id = findId(key, "request");
    if (id === undefined) continue;
    if (kept.has(id)) changes.set(key, null);
    else {
      const request = parseRequest(value, nowS);
      if (typeof request === "string") refused.push({ id, why: request });
      else found.push({ id, ...request });
    }
  }
  found.sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
  const late = found
    .splice(COUNT_MAX)
    .map(({ id }) => ({ id, why: "there are too many requests" }));
  for (const [at, { id, why }] of [...refused, ...late].entries()) {
    const answer = { isDone: false, message: `Landfall refused: ${why}` };
    if (at < COUNT_MAX) for (const change of toAnswer(id, answer, nowMs)) changes.set(...change);
    else changes.set(`request.${id}`, null);
  }
  const pending = found.map(({ id, host }) => ({ id, host }));
  const oldest = Math.min(...kept.values());
  return {
    changes: new Map([...changes].slice(0, REMOVED_MAX)),
    pending,
    ...(kept.size > 0 && { recheckMs: Math.max(0, (oldest + ANSWER_AGE_MAX_S) * 1_000 - nowMs) }),
  };
}

/** The changes that answer a request. */
export function toAnswer(id: string, { isDone, message }: RebootAnswer, nowMs: number): Changes {
  const state = isDone ? "done" : "refused";
  const answer = { state, message, time: Math.floor(nowMs / 1_000) };
  return [
    [`request.${id}`, null],
    [`answer.${id}`, JSON.stringify(answer)],
  ];
}

/** The times of the answers that stay, by the ID. Removes the others, and what is neither request nor answer. */
function sortAnswers(
  entries: readonly (readonly [string, unknown])[],
  nowS: number,
  changes: Map<string, string | null>,
): ReadonlyMap<string, number> {
  const answers: (readonly [id: string, time: number])[] = [];
  for (const [key, value] of entries) {
    const id = findId(key, "answer");
    const { time } = readFields(value);
    if (id !== undefined && isRecent(time, nowS, ANSWER_AGE_MAX_S)) answers.push([id, time]);
    else if (findId(key, "request") === undefined) changes.set(key, null);
  }
  answers.sort(([, one], [, other]) => other - one);
  for (const [id] of answers.splice(COUNT_MAX)) changes.set(`answer.${id}`, null);
  return new Map(answers);
}

function findId(key: string, kind: "request" | "answer"): string | undefined {
  const [, found, id] = KEY.exec(key) ?? [];
  return found === kind ? id : undefined;
}

/** What a request says, or why it is refused. */
function parseRequest(value: unknown, nowS: number): { host: Key; time: number } | string {
  const { host, time } = readFields(value);
  if (typeof host !== "string" || !HOST.test(host) || typeof time !== "number") {
    return "it cannot read the request";
  }
  if (!isRecent(time, nowS, REQUEST_AGE_MAX_S)) {
    return "the request is too old, or the clocks of jump host and Landfall differ";
  }
  return { host, time };
}

function isRecent(time: unknown, nowS: number, ageMaxS: number): time is number {
  return typeof time === "number" && Math.abs(nowS - time) <= ageMaxS;
}

/** The fields of a JSON object; none if this is something else. */
function readFields(value: unknown): Fields {
  if (typeof value !== "string" || value.length > LENGTH_MAX) return {};
  return parseFields(value) ?? {};
}

/** What {@linkcode handleRebootRequests} needs. */
export interface RebootOptions {
  readonly client: Pick<KubeClient, "read" | "patch" | "delete">;
  readonly clock: Clock;
  /** A ConfigMap of the cluster, as it was last seen. */
  readonly findConfigMap: (key: Key) => ConfigMap | undefined;
  /** Whether the cluster has a host. */
  readonly isOwn: (host: BareMetalHost) => boolean;
}

/** What became of a request. */
export interface RebootOutcome extends RebootAnswer {
  readonly host: Key;
}

/** What {@linkcode handleRebootRequests} did. */
export interface RebootPass {
  readonly outcomes: readonly RebootOutcome[];
  /** When it must be called again although nothing changed, in milliseconds. */
  readonly recheckMs?: number;
}

/** A ConfigMap with the fields that users of a jump host could set, too. */
interface RequestMap extends ConfigMap {
  readonly binaryData?: object;
  readonly immutable?: boolean;
}

/** A message says nothing about hosts of others, not even whether they exist. */
const NOT_OURS: RebootAnswer = refuse("does not belong to this cluster");
const ASKED: RebootAnswer = {
  isDone: true,
  message: "metal3 has been asked to reboot the host",
};
/** How often a host is read again because another program wrote it. */
const TRIES_MAX = 4;
/** What metal3 does without a mode, too: it asks the system to shut down before it cuts the power. */
const MODE = JSON.stringify({ mode: "soft" });

/**
 * Answers the requests of all jump hosts of a cluster. A request is done at most once, also if this process ends before
 * the answer is written: the host then has the ID of the request. Asks the API server for nothing without a request.
 *
 * @throws {KubeError} if the API server does not answer. The requests are still there then
 */
export async function handleRebootRequests(
  options: RebootOptions,
  cluster: SipCluster,
  signal: AbortSignal,
): Promise<RebootPass> {
  const outcomes: RebootOutcome[] = [];
  const rechecksMs: number[] = [];
  for (const index of cluster.spec?.services.jumpHost?.keys() ?? []) {
    const { requests: name } = toJumpHostNames(cluster, index);
    const { namespace = "" } = cluster.metadata;
    const seen = options.findConfigMap(toKey({ metadata: { namespace, name } }));
    if (seen === undefined) continue;
    const { changes, pending, recheckMs } = planRequests(seen.data ?? {}, options.clock.now());
    if (recheckMs !== undefined) rechecksMs.push(recheckMs);
    if (changes.size > 0 || pending.length > 0 || hasMore(seen)) {
      outcomes.push(...(await answerAll(options, { namespace, name }, signal)));
    }
  }
  return {
    outcomes,
    ...(rechecksMs.length > 0 && { recheckMs: Math.min(...rechecksMs) }),
  };
}

function refuse(why: string): RebootAnswer {
  return { isDone: false, message: `Landfall refused: the host ${why}` };
}

/** Whether it has what no jump host writes. */
function hasMore({ binaryData, immutable }: RequestMap): boolean {
  return binaryData !== undefined || immutable === true;
}

/** Answers the requests in one ConfigMap as it is now: the store may not show the last answers yet. */
async function answerAll(
  options: RebootOptions,
  path: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<readonly RebootOutcome[]> {
  const { client, clock } = options;
  const outcomes: RebootOutcome[] = [];
  const write = async (data: Changes, more: object = {}): Promise<void> => {
    const body = { data: Object.fromEntries(data), ...more };
    await client.patch(CONFIG_MAPS, path, { type: "merge", body }, signal);
  };
  try {
    const map: RequestMap = await client.read(CONFIG_MAPS, path, signal);
    if (map.immutable === true) {
      // No answer can be written into it. Landfall makes another one.
      await client.delete(CONFIG_MAPS, path, toPreconditions(map), signal);
      return outcomes;
    }
    const { changes, pending } = planRequests(map.data ?? {}, clock.now());
    if (changes.size > 0 || hasMore(map)) await write(changes, { binaryData: null });
    for (const request of pending) {
      const answer = await reboot(options, request, signal);
      outcomes.push({ host: request.host, ...answer });
      await write(toAnswer(request.id, answer, clock.now()));
    }
  } catch (error) {
    // A ConfigMap that was deleted meanwhile has no requests.
    if (!isKubeError(error, "notFound")) throw error;
  }
  return outcomes;
}

function toPreconditions({ metadata: { uid } }: RequestMap): DeleteOptions {
  return uid === undefined ? {} : { uid };
}

async function reboot(
  { client, isOwn }: Pick<RebootOptions, "client" | "isOwn">,
  { id, host: key }: RebootRequest,
  signal: AbortSignal,
): Promise<RebootAnswer> {
  const [namespace = "", name = ""] = key.split("/");
  const path = { namespace, name };
  for (let triesLeft = TRIES_MAX; ; triesLeft -= 1) {
    try {
      const host = await client.read(BARE_METAL_HOSTS, path, signal);
      const verdict = isOwn(host) ? judge(host, id) : { answer: NOT_OURS };
      if ("answer" in verdict) return verdict.answer;
      const { resourceVersion } = host.metadata;
      const body = { metadata: { resourceVersion, annotations: verdict.annotations } };
      await client.patch(BARE_METAL_HOSTS, path, { type: "merge", body }, signal);
      return ASKED;
    } catch (error) {
      if (isKubeError(error, "notFound")) return NOT_OURS;
      if (!isKubeError(error, "conflict") || triesLeft <= 1) throw error;
    }
  }
}

/** Pure: what to answer, or which annotations to write first. */
function judge(
  { metadata: { annotations = {}, deletionTimestamp } }: BareMetalHost,
  id: string,
): { readonly answer: RebootAnswer } | { readonly annotations: Readonly<Record<string, string>> } {
  if (annotations[REBOOT_REQUEST] === id) return { answer: ASKED };
  if (deletionTimestamp !== undefined) return { answer: refuse("is being deleted") };
  if (annotations[PAUSED] !== undefined) return { answer: refuse("is paused") };
  if (annotations[DETACHED] !== undefined) return { answer: refuse("is detached") };
  // Another program may have asked for a hard reboot.
  return { annotations: { [REBOOT]: MODE, ...pick(annotations, [REBOOT]), [REBOOT_REQUEST]: id } };
}
