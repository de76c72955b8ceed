/**
 * The requests of a jump host in its ConfigMap, and the answers. Users of the jump host can write anything there, so
 * everything has a limit. Pure.
 * @module
 */
import { type Fields, parseFields } from "../../../../core/text/values.ts";
import type { Key } from "../../../../kube/cache/store.ts";

/** A user asks to reboot a host. */
export interface RebootRequest {
  /** A UUID. */
  readonly id: string;
  /** `namespace/name`; which host that is, and whose, is not known yet. */
  readonly host: Key;
}

/** What Landfall did. */
export interface RebootAnswer {
  readonly isDone: boolean;
  /** For the user: one line. */
  readonly message: string;
}

/** Keys to write, or with `null` to remove. */
export type Changes = Iterable<readonly [key: string, value: string | null]>;

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
