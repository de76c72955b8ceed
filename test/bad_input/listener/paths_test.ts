/**
 * Paths that try to be taken for others: what may be read is judged by the path that is served, always.
 * @module
 */
import { describe, expect } from "bun:test";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import fc from "fast-check";
import { Hono } from "hono";
import { silentLogger } from "../../../lib/core/log.ts";
import { guardAccess } from "../../../lib/http/access.ts";
import { readRequest } from "../../../lib/http/sockets/exchange.ts";
import type { Handler } from "../../../lib/http/sockets/server.ts";
import { tries } from "../../support/extent.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { GOOD_TOKEN, LISTENER_KINDS, ListenerStage, PROTECTED, useListener } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

/** Ways to write a path that nobody may read without a token, or another that looks like one that everybody may. */
const TRICKS: readonly string[] = [
  "/configz",
  "/metrics",
  "/debug",
  "/debug/",
  "/debug/nodes",
  "/debug/inventory",
  "/",
  "/?/healthz",
  "/configz?/healthz",
  "/configz#/healthz",
  "/configz;/healthz",
  "/healthz/../configz",
  "/healthz/..//configz",
  "/healthz/./../configz",
  "/healthz/%2e%2e/configz",
  "/healthz/%2E./configz",
  "/healthz/.%2e/configz",
  "/healthz/..%2fconfigz",
  "/healthz/..%2Fdebug/nodes",
  "/healthz%2f..%2fconfigz",
  "/healthz/%252e%252e/configz",
  "/healthz/..%252fconfigz",
  "/healthz/..;/configz",
  "/healthz;/../configz",
  "/healthz;x",
  "/healthz%00",
  "/healthz%00/../configz",
  "/healthz%0a",
  "/healthz%20",
  "/healthz%3f/../configz",
  "/healthz%23/../configz",
  "/healthz\\..\\configz",
  "/healthz/..\\configz",
  "/healthz%5c..%5cconfigz",
  "\\configz",
  "//configz",
  "///debug/nodes",
  "//localhost/configz",
  "//evil.example/healthz",
  "//healthz",
  "/./configz",
  "/.//configz",
  "/%2e/configz",
  "/%63onfigz",
  "/%64ebug/nodes",
  "/%2fconfigz",
  "/%2563onfigz",
  "/configz/",
  "/configz%20",
  "/configz/.",
  "/configz/healthz/..",
  "/CONFIGZ",
  "/HEALTHZ",
  "/Debug/Nodes",
  "/debug/nodes/%2e%2e/inventory",
  "/debug/nodes/..%2finventory",
  "/debug/nodes/a/../../../healthz/../configz",
  "/debug/nodes/%ff",
  "/debug/nodes/%ed%a0%80",
  "/debug/nodes/%",
  "/debug/nodes/%u0061",
  "/%c0%ae%c0%ae/configz",
  "/healthz/%c0%ae%c0%ae/configz",
  "/healthz/%e0%80%ae/configz",
  "/ｄebug/nodes",
  `/healthz${"/..".repeat(500)}/configz`,
  `${"/a".repeat(2_000)}${"/..".repeat(2_000)}/configz`,
  `/debug/nodes/${"/".repeat(5_000)}`,
  `/debug/nodes/${"%2e%2e%2f".repeat(1_000)}configz`,
  `/debug/nodes?${"format=text&".repeat(1_000)}`,
  `/debug/nodes?format=${"%00".repeat(1_000)}`,
];

/** What a stranger may see: the word of a probe, or that there is nothing for him. */
const OPEN_WORDS =
  /^(ok|internal server error: reason withheld|404 page not found|bad request|unauthorized:)/;

function readBody(text: string): string {
  return text.slice(text.indexOf("\r\n\r\n") + 4).replace(/^[0-9a-f]+\r\n/, "");
}

const toPath = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

describe.each(LISTENER_KINDS.map((kind) => [kind] as const))("the %s", (kind) => {
  const use = useListener(kind);

  longTest(`the ${kind} shows a stranger nothing, however he writes the path`, async () => {
    const stage = use();
    const wrong: unknown[] = [];
    for (const path of TRICKS) {
      const { status, text } = await stage.get(toPath(path));
      if (![200, 400, 401, 404, 500].includes(status)) wrong.push([path, status]);
      if (!stage.asks || text === "") continue;
      const isOpen = OPEN_WORDS.test(readBody(text)) || status === 400;
      if (!isOpen || PROTECTED.test(text)) wrong.push([path, text]);
    }
    expect(wrong).toEqual([]);
    expect(stage.askedPaths).toEqual([]);
    expect(stage.logged).toEqual([]);
    await stage.expectWell();
  });
});

longTest("the HTTPS port asks the cluster about the path that it then serves", async () => {
  await using stage = await ListenerStage.start("HTTPS port");
  const token = `Authorization: Bearer ${GOOD_TOKEN}\r\n`;
  for (const [path, status] of [
    ["/%63onfigz", 200],
    ["/healthz/../configz", 200],
    ["/debug/./nodes?format=text#/healthz", 200],
    ["/debug/nodes/none", 404],
    ["//configz", 404],
    ["/debug%2fnodes", 400],
  ] as const) {
    expect([path, (await stage.get(path, token)).status]).toEqual([path, status]);
  }
  const asked = ["/configz", "/debug/nodes", "/debug/nodes/none", "//configz"];
  expect(stage.askedPaths).toEqual(asked);
});

const part: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("/", "/", "/", "//", "healthz", "livez", "debug", "nodes", "metrics", "configz"),
  fc.constantFrom("..", ".", "%2e", "%2E%2e", "%2f", "%5c", "\\", "%25", "%252e", "%00", "%", ";"),
  fc.constantFrom("?", "#", "@", ":", "%3f", "%23", "%c0%ae", "%ff", "%ED%A0%80", "*", "%2A", "é"),
  fc.constantFrom("HEALTHZ", "%68ealthz", "health%7A", "%64ebug", "debu%67", "x", "http://h", "["),
  fc.string({ maxLength: 3 }),
);
const anyPath: fc.Arbitrary<string> = fc
  .array(part, { maxLength: 12 })
  .map((parts) => `/${parts.join("")}`);

/** What `readRequest` makes of a path, as it comes from the socket. */
function toRequest(path: string): Request | undefined {
  const incoming = new IncomingMessage(new Socket());
  incoming.method = "GET";
  incoming.url = path;
  incoming.httpVersionMajor = 1;
  const read = readRequest(incoming);
  return read instanceof Request ? read : undefined;
}

/** Routes as the pages have them, which tell the path as they see it, and the name in it. */
function createRoutes(served: string[]): Handler {
  const routes = new Hono();
  routes.get("/debug/nodes/:name", (context) => {
    served.push(context.req.path);
    return context.text(context.req.param("name"));
  });
  routes.get("*", (context) => {
    served.push(context.req.path);
    return context.text("page");
  });
  return routes;
}

longTest("guardAccess() asks about the very path that the routes see", async () => {
  const asked: string[] = [];
  const served: string[] = [];
  const reviewer = {
    authenticate: (token: string) => Promise.resolve(token),
    authorize: (_user: string, { path }: { readonly path: string }) => {
      asked.push(path);
      return Promise.resolve(true);
    },
  };
  let seen = 0;
  const run = async (path: string): Promise<void> => {
    const request = toRequest(path);
    if (request === undefined) return;
    request.headers.set("authorization", "Bearer t");
    asked.length = 0;
    served.length = 0;
    // A guard of its own, which remembers nothing.
    const { signal } = new AbortController();
    const clock = new ManualClock();
    const options = { reviewer, alwaysAllowPaths: [], clock, log: silentLogger, signal };
    const response = await guardAccess(createRoutes(served), options).fetch(request);
    if (response.status === 400) return;
    seen += 1;
    expect([path, ...served]).toEqual([path, ...asked]);
    const text = await response.text();
    if (text !== "page") expect(`/debug/nodes/${text}`).toBe(asked[0] ?? "");
  };
  for (const path of TRICKS) await run(path);
  await fc.assert(fc.asyncProperty(anyPath, run), tries(1_000));
  expect(seen).toBeGreaterThan(60);
});

longTest(
  "guardAccess() without a token lets through no path to a route that is not open",
  async () => {
    const never = (): Promise<never> => Promise.reject(new Error("nobody is asked"));
    const reviewer = { authenticate: never, authorize: never };
    const patterns = ["/healthz", "/debug/nodes", "/debug/*", "/debug/nodes/x*", "/metrics", "/*"];
    const log = silentLogger;
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(anyPath, fc.subarray(patterns), async (path, alwaysAllowPaths) => {
        const request = toRequest(path);
        if (request === undefined) return;
        const served: string[] = [];
        const options = { reviewer, alwaysAllowPaths, clock, log, signal };
        const { status } = await guardAccess(createRoutes(served), options).fetch(request);
        statuses.add(status);
        const [shown] = served;
        expect(shown === undefined).toBe(status !== 200);
        if (shown !== undefined)
          expect(alwaysAllowPaths.filter((one) => opens(one, shown))).not.toEqual([]);
      }),
      tries(1_000),
    );
    expect([...statuses].sort()).toEqual([200, 400, 401]);
  },
);

/** Whether a pattern opens a path, in the words of the flag's documentation. */
function opens(pattern: string, path: string): boolean {
  if (pattern === "/healthz") return /^\/healthz(\/.*)?$/s.test(path);
  const literal = pattern.replace(/\*$/, "");
  return literal === pattern ? path === pattern : path.slice(0, literal.length) === literal;
}
