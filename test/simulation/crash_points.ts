/**
 * Deaths of a process at one of its requests, before or after the server did what it asks for; and the comparison of
 * what is left in the end with what is left without.
 * @module
 */
import { mustBeText } from "../../lib/core/text/values.ts";
import type { Outcome } from "../../lib/simulator/loopback.ts";
import type { Gate } from "./world/api_server.ts";
import type { ClockErrors } from "./world/process.ts";
import type { Ending } from "./ending.ts";
import type { Trace } from "./trace.ts";

/** When a process dies. */
export interface CrashPoint {
  /** At its request of this number, from 1. */
  readonly at: number;
  readonly when: "before" | "after";
}

/** A request that was counted. */
export interface Asked {
  /** `associateIpAddress`, `PATCH /api/v1/namespaces/default/services/web/status`. */
  readonly what: string;
  /** Whether it can change something: then it matters whether the server did it. */
  readonly isChange: boolean;
  readonly isOfCloud: boolean;
}

/** Counts requests where they reach a server, and ends the process that sent one of them. */
export class CrashPoints {
  readonly #kill: (author: string, how: string) => void;
  #point: CrashPoint | undefined;
  /** Absent: nothing is counted. */
  #asked: Asked[] | undefined;
  /** Whether the process died. */
  isReached = false;

  /** @param kill Ends a process, says how, and starts the next one */
  constructor(kill: (author: string, how: string) => void) {
    this.#kill = kill;
  }

  /** Every request since {@linkcode begin}, of all processes. */
  get asked(): readonly Asked[] {
    return this.#asked ?? [];
  }

  /** Counts from now on. @param point Absent: no process dies */
  begin(point?: CrashPoint): void {
    this.#asked = [];
    this.#point = point;
  }

  /** The gate of an API server. */
  toGate(): Gate {
    return (author, request, serve) => {
      const asked = toAsked(request);
      return asked === undefined ? serve() : this.pass(author, asked, serve);
    };
  }

  /** Lets a server do what a request asks for, unless its author dies before. */
  async pass(author: string, asked: Asked, serve: () => Promise<Outcome>): Promise<Outcome> {
    const { at, when } = this.#point ?? {};
    if (this.#asked?.push(asked) !== at || at === undefined) return await serve();
    if (when === "after") await serve();
    this.isReached = true;
    this.#kill(author, `dies at request ${at} (${asked.what}), ${when} it was done`);
    return { kind: "hang" };
  }
}

/** Where a process can die. */
interface CrashWorld {
  readonly trace: Trace;
  readonly server: { editLease(holder: string | undefined): boolean };
  readonly replicas: readonly {
    readonly current: { readonly process: { readonly name: string } } | undefined;
    kill(): void;
    start(errors: ClockErrors): unknown;
  }[];
}

/**
 * Ends a process in the middle of a request, and starts the next one.
 *
 * @param how What the trace says of it @param onCrash What happens in between
 */
export function crash(
  { trace, replicas, server }: CrashWorld,
  name: string,
  how: string,
  onCrash: () => void = () => undefined,
): void {
  trace.note(name, how);
  const replica = replicas.find(({ current }) => current?.process.name === name);
  replica?.kill();
  onCrash();
  // Else the next one would wait for it to run out.
  server.editLease(undefined);
  replica?.start({ rate: 1, skewMs: 0 });
}

/** A request to Kubernetes that counts. Reads, Events and the Lease do not: nothing is lost with them. */
function toAsked({ method, url }: Request): Asked | undefined {
  const { pathname } = new URL(url);
  if (method === "GET" || /\/(events|leases)(\/|$)/.test(pathname)) return undefined;
  return { what: `${method} ${pathname}`, isChange: true, isOfCloud: false };
}

/** A story that can be told with a crash, and how it was. */
export interface CrashEnding extends Ending {
  /** What is left in the end, to be compared. */
  readonly left: unknown;
  readonly asked: readonly Asked[];
  readonly isReached: boolean;
}

/**
 * Tells a story once, and once for each of some crash points. The first one that ends otherwise is the ending.
 *
 * @param only Tells it with this crash alone, and that is the ending
 */
export async function tellWithCrashes(
  tell: (point?: CrashPoint, whole?: CrashEnding) => Promise<CrashEnding>,
  listPoints: (asked: readonly Asked[]) => readonly CrashPoint[],
  only?: CrashPoint,
): Promise<Ending> {
  const whole = await tell();
  if (whole.violations.length > 0) return whole;
  for (const point of only ? [only] : listPoints(whole.asked)) {
    const ending = await tell(point, whole);
    const violations = [...ending.violations, ...listDifferences(ending, whole)];
    // A run that asks less, because its looks fall together, ends before the point.
    if (!ending.isReached && (only !== undefined || ending.asked.length >= point.at))
      violations.push(`no process died at request ${point.at} of ${ending.asked.length}`);
    if (only !== undefined || violations.length > 0)
      return { ...ending, violations, replay: `${whole.replay}@${point.when}-${point.at}` };
  }
  return whole;
}

/** Reads a crash point: `after-7`. @throws {Error} for anything else */
export function readPoint(text: string): CrashPoint {
  const [, when, at] = /^(before|after)-([1-9]\d*)$/.exec(text) ?? [];
  if (when === undefined)
    throw new Error(`crash point: ${mustBeText('"before-N" or "after-N", with N from 1', text)}`);
  return { at: Number(at), when: when as CrashPoint["when"] };
}

function listDifferences(ending: CrashEnding, whole: CrashEnding): string[] {
  const [now, before] = [JSON.stringify(ending.left), JSON.stringify(whole.left)];
  return [
    ...(now === before ? [] : [`it leaves ${now}, and without a crash ${before}`]),
    ...listRepeated(ending.asked, whole.asked),
  ];
}

/** Changes of the cloud that were asked for more than once more than without a crash. */
function listRepeated(asked: readonly Asked[], usual: readonly Asked[]): string[] {
  const known = countChanges(usual);
  return [...countChanges(asked)]
    .filter(([what, count]) => count > (known.get(what) ?? 0) + 1)
    .map(([what, count]) => `${what} was sent ${count} times, and ${known.get(what) ?? 0} usually`);
}

function countChanges(asked: readonly Asked[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { what, isChange, isOfCloud } of asked) {
    if (isChange && isOfCloud) counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}
