/**
 * Headers that lie: who is asked, who asks, and what a browser may do with the answer; and what is given back of them.
 * @module
 */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import { tries } from "../../support/extent.ts";
import { GOOD_TOKEN, LISTENER_KINDS, ListenerStage, PROTECTED, useListener } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

/** Names by which a page of somebody else could reach a listener on this machine: the debug port must refuse all. */
const FOREIGN_HOSTS: readonly string[] = [
  "evil.example",
  "evil.example:10260",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "127.0.0.1.nip.io",
  "localhost.",
  "localhost.localdomain",
  "127.0.0.1.",
  "127.1",
  "2130706433",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "0.0.0.0",
  "10.0.0.1",
  "[::]",
  "[::2]:80",
  "[fe80::1]",
  "1",
  "_",
  "-",
  "..",
  "a".repeat(8_000),
];
const OWN_HOSTS: readonly string[] = [
  "localhost",
  "LOCALHOST:80",
  "127.0.0.1",
  "127.0.0.1:65535",
  "127.255.255.254",
  "[::1]",
  "[::1]:10260",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
];
/** What is no host at all. */
const NO_HOSTS: readonly string[] = [
  "",
  "localhost@evil.example",
  "user:password@localhost",
  "localhost/configz",
  "localhost/healthz?",
  "localhost?",
  "localhost#",
  "localhost\\configz",
  "localhost%2fconfigz",
  "localhost, evil.example",
  "localhost evil.example",
  "localhost:80:80",
  "localhost:99999",
  "localhost:http",
  "[::1",
  "::1",
  "[]",
  "[localhost]",
  "[::1]evil",
  "\u00ff",
  "*",
];
/** What is no token, although there is a good one in it. */
const NO_TOKENS: readonly string[] = [
  `Authorization: ${GOOD_TOKEN}\r\n`,
  `Authorization: Basic ${GOOD_TOKEN}\r\n`,
  `Authorization: Bearer\t${GOOD_TOKEN}\r\n`,
  `Authorization: Bearer ${GOOD_TOKEN}, Bearer x\r\n`,
  `Authorization: Bearer x, Bearer ${GOOD_TOKEN}\r\n`,
  `Authorization: Bearer ${GOOD_TOKEN} x\r\n`,
  `Authorization: Bearer "${GOOD_TOKEN}"\r\n`,
  `Authorization: Bearer=${GOOD_TOKEN}\r\n`,
  `Authorization: Bearer Bearer ${GOOD_TOKEN}\r\n`,
  `Authorization: Bearer ${GOOD_TOKEN}x\r\n`,
  `Authorization: Bearer ${GOOD_TOKEN.slice(0, -1)}\r\n`,
  `Authorization: Bearer ${GOOD_TOKEN.toUpperCase()}\r\n`,
  `Authorization: Bearer ${"a".repeat(15_000)}\r\n`,
  `Authorization: Bearer \u00ff\r\n`,
  "Authorization:\r\n",
  "Authorization: Bearer\r\n",
  `Proxy-Authorization: Bearer ${GOOD_TOKEN}\r\n`,
  `X-Authorization: Bearer ${GOOD_TOKEN}\r\n`,
  `Cookie: token=${GOOD_TOKEN}; Authorization=Bearer ${GOOD_TOKEN}\r\n`,
  `Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.${GOOD_TOKEN}\r\n`,
  "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n",
  "Impersonate-User: admin\r\n",
  "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: localhost\r\nForwarded: for=127.0.0.1\r\n",
];
const MARK = "Zq-hostile-mark";

describe.each(LISTENER_KINDS.map((kind) => [kind] as const))("the %s", (kind) => {
  const use = useListener(kind);
  const ask = async (head: string, method = "GET"): Promise<number> => {
    const first = `${method} /livez HTTP/1.1\r\nConnection: close\r\n`;
    const connection = await use().ask(`${first}${head}\r\n`);
    await connection.closed;
    return connection.statuses[0] ?? 0;
  };

  const verb = kind === "debug port" ? "refuses" : "takes";
  longTest(`the ${kind} ${verb} hosts of others, and refuses what is no host`, async () => {
    const foreign = kind === "debug port" ? 421 : 200;
    const found: [string, number][] = [];
    const wanted: [string, number][] = [];
    for (const [hosts, status] of [
      [FOREIGN_HOSTS, foreign],
      [OWN_HOSTS, 200],
      [NO_HOSTS, 400],
    ] as const) {
      for (const host of hosts) {
        found.push([host, await ask(`Host: ${host}\r\n`)]);
        wanted.push([host, status]);
      }
    }
    expect(found).toEqual(wanted);
    expect(await ask("")).toBe(foreign);
    expect(await ask("Host: localhost\r\nHost: localhost\r\n")).toBe(400);
    expect(await ask("Host: evil.example\r\nX-Forwarded-Host: localhost\r\n")).toBe(foreign);
    expect(await ask("Host: evil.example\r\nOrigin: http://localhost\r\n")).toBe(foreign);
    await use().expectWell();
  });

  longTest(
    `the ${kind} gives a page of somebody else in a browser nothing to read or to run`,
    async () => {
      const stage = use();
      const origin = `Origin: https://evil.example\r\nAccept: text/html\r\nAccess-Control-Request-Method: GET\r\n`;
      for (const path of [
        "/livez",
        "/debug/",
        `/debug/nodes/${MARK}%3Cscript%3E`,
        "/configz",
        "/none",
      ]) {
        const { text } = await stage.get(path, origin);
        expect(text).not.toMatch(/^access-control-/im);
        expect(text).not.toContain("<script>alert");
        expect(text).not.toContain(`${MARK}<`);
      }
      await stage.expectWell();
    },
  );

  longTest(`the ${kind} gives HEAD the head that GET has, and no body`, async () => {
    const stage = use();
    for (const path of ["/livez", "/metrics", "/debug/nodes", "/debug/", "/none"]) {
      const connection = await stage.ask(
        `HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      await connection.closed;
      const [head = "", ...body] = connection.received.split("\r\n\r\n");
      const { status } = await stage.get(path);
      expect([path, connection.statuses, body.join("")]).toEqual([path, [status], ""]);
      expect(head).not.toContain(MARK);
    }
  });
});

longTest("the HTTPS port takes a token in one place and one form alone", async () => {
  await using stage = await ListenerStage.start("HTTPS port");
  for (const head of NO_TOKENS) {
    const { status, text } = await stage.get("/configz", head);
    // A flood of wrong ones is answered 429 after a while.
    expect([head.slice(0, 60), [400, 401, 429].includes(status)]).toEqual([
      head.slice(0, 60),
      true,
    ]);
    expect(text).not.toMatch(PROTECTED);
    expect(text).not.toContain(GOOD_TOKEN);
  }
  const query = `?access_token=${GOOD_TOKEN}&token=${GOOD_TOKEN}&authorization=Bearer%20${GOOD_TOKEN}`;
  expect((await stage.get(`/configz${query}`)).status).toBe(401);
  const bearer = `Authorization: Bearer ${GOOD_TOKEN}\r\n`;
  expect((await stage.get("/configz", bearer + bearer)).status).toBe(400);
  expect((await stage.get("/configz", `${bearer}Authorization: Bearer x\r\n`)).status).toBe(400);
  // Its answer may be lost to what still comes.
  const huge = await stage.get("/configz", `Authorization: Bearer ${"a".repeat(1_000_000)}\r\n`);
  expect([0, 431]).toContain(huge.status);
  expect(stage.askedPaths).toEqual([]);
  // Time for the flood to be forgotten.
  await stage.clock.advance(60_000);
  expect((await stage.get("/configz", bearer)).status).toBe(200);
  expect(
    (await stage.get("/configz", `aUTHORIZATION:   bEARER   ${GOOD_TOKEN}  \r\n`)).status,
  ).toBe(200);
  expect(stage.logged.join("")).not.toContain(GOOD_TOKEN);
  await stage.expectWell();
});

longTest(
  "the HTTPS port reads hostile values of headers, and gives back and logs none of them",
  async () => {
    await using stage = await ListenerStage.start("HTTPS port");
    const value = fc
      .array(
        fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f),
        { maxLength: 60 },
      )
      .map((codes) => MARK + String.fromCharCode(...codes));
    const names =
      "X-A User-Agent Referer Cookie Accept Origin Authorization Via If-None-Match X-Request-Id " +
      "Accept-Encoding If-Modified-Since Range Forwarded Content-Type";
    const name = fc.constantFrom(...names.split(" "));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 6 }), async (pairs) => {
        const head = pairs.map(([one, text]) => `${one}: ${text}\r\n`).join("");
        const { status, text } = await stage.get("/debug/nodes", head);
        if (![400, 401].includes(status)) throw new Error(`status ${status}`);
        expect(text).not.toContain(MARK);
      }),
      tries(40),
    );
    expect(stage.logged).toEqual([]);
    await stage.expectWell();
  },
);
