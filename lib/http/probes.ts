/**
 * What every process answers: `/healthz`, `/livez`, `/readyz` and `/metrics`, with the same texts as Kubernetes
 * components. All other pages are loaded when a request asks for one.
 * @module
 */
import { type Context, Hono } from "hono";

/** The three questions a supervisor asks. */
type ProbeName = "healthz" | "livez" | "readyz";

/** A health check. */
export interface Check {
  /** Its name: in the list of `?verbose`, and at the end of the path that runs only this check. */
  readonly name: string;
  /** The probes that it is part of. */
  readonly probes: readonly ProbeName[];
  /** Reads only memory: a probe must answer immediately, even if the cloud does not. */
  isOk(): boolean;
  /** What is worth knowing although it passes; no full stop. Shown to all who may ask. @default {nothing} */
  note?(): string | undefined;
}

/** What the probes read, and what answers other requests. */
interface ProbeOptions {
  readonly checks: readonly Check[];
  /** Prometheus text exposition, version 0.0.4. */
  renderMetrics(): string;
  /** Imports the other pages. Called until it succeeds. */
  loadPages(): Promise<Hono>;
}

const PROBES: readonly ProbeName[] = ["healthz", "livez", "readyz"];

/**
 * Routes for the probes, the metrics, and the other pages. They throw what a page throws.
 *
 * A probe answers 200 `ok` or 500. `?verbose` lists the checks, `?exclude=name` leaves one out, and `/readyz/name` runs
 * only one (https://kubernetes.io/docs/reference/using-api/health-checks). It never says why a check fails. Behind one
 * that passes there may be a note.
 */
export function createProbeRoutes({ checks, renderMetrics, loadPages }: ProbeOptions): Hono {
  const routes = new Hono();
  for (const probe of PROBES) {
    const own = [ping(), ...checks.filter(({ probes }) => probes.includes(probe))];
    routes.get(`/${probe}`, (context) => answerProbe(context, probe, own));
    routes.get(`/${probe}/:name`, (context) => {
      const check = own.find(({ name }) => name === context.req.param("name"));
      if (check === undefined) return context.text("404 page not found\n", 404);
      const isOk = holds(check);
      return answer(context, isOk ? "ok" : "internal server error: reason withheld\n", isOk);
    });
  }
  routes.get("/metrics", (context) =>
    context.body(renderMetrics(), 200, {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
    }),
  );
  let pages: Hono | undefined;
  routes.notFound(async (context) => (pages ??= await loadPages()).fetch(context.req.raw));
  routes.onError((error) => {
    throw error;
  });
  return routes;
}

function answerProbe(context: Context, probe: ProbeName, checks: readonly Check[]): Response {
  const excluded = new Set(context.req.queries("exclude") ?? []);
  const lines: string[] = [];
  let isOk = true;
  for (const check of checks) {
    const isExcluded = excluded.delete(check.name);
    const isGood = isExcluded || holds(check);
    isOk &&= isGood;
    if (isExcluded) lines.push(`[+]${check.name} excluded: ok\n`);
    else if (isGood) lines.push(`[+]${check.name} ok${formatNote(check)}\n`);
    else lines.push(`[-]${check.name} failed: reason withheld\n`);
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(", ");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  lines.push(`${probe} check ${isOk ? "passed" : "failed"}\n`);
  const isVerbose = context.req.query("verbose") !== undefined;
  return answer(context, isOk && !isVerbose ? "ok" : lines.join(""), isOk);
}

function answer(context: Context, text: string, isOk: boolean): Response {
  return context.text(text, isOk ? 200 : 500, {
    "cache-control": "no-cache, private",
    "x-content-type-options": "nosniff",
  });
}

function formatNote(check: Check): string {
  const note = check.note?.();
  return note === undefined ? "" : `: ${note}`;
}

/** Whether a check passes. One that throws does not. */
export function holds(check: Check): boolean {
  try {
    return check.isOk();
  } catch {
    return false;
  }
}

/** Passes whenever the process can answer. */
function ping(): Check {
  return { name: "ping", probes: PROBES, isOk: () => true };
}
