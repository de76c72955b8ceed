import { expect, test } from "bun:test";
import { listSources, readSource } from "./support/sources.ts";

/** Who is given a client that asks no fence, in the parts of a process. That of controllers is `fencedBy` one. */
const UNFENCED: Readonly<Record<string, string>> = {
  EventSender: "Events tell of what is over: a standby writes them, too",
  LeaderElector: "the Lease says who leads",
  createDelegatedReviewer: "reviews change nothing",
  Caches: "they only read",
};

/** Files of providers that send more than reads, and why they ask no fence. Others ask it right before each request. */
const UNFENCED_REQUESTS: Readonly<Record<string, string>> = {
  "lib/providers/xenorchestra/session/tokens.ts": "keeps the token alive that it signs in with",
  "lib/providers/xenorchestra/client.ts": "subscribes to changes, which changes nothing",
};

test("nobody in a process but the named exceptions is given a client without the fence", async () => {
  const takers = new Set<string>();
  for (const file of await listSources("lib/app")) {
    for (const taker of listTakers(await readSource(file))) takers.add(taker);
  }
  expect([...takers].toSorted()).toEqual(Object.keys(UNFENCED).toSorted());
});

test("no provider sends more than reads without a fence, but for the named exceptions", async () => {
  const writers: string[] = [];
  for (const file of await listSources("lib/providers")) {
    const text = await readSource(file);
    const writes = /method: "(POST|PUT|PATCH|DELETE)"|\bsession\.post\(/.test(text);
    // A session that changes something takes the fence, and asks it.
    const isFenced = /\bfence\.check\(\)|\bsession\.change\(/.test(text);
    if (writes && !isFenced) writers.push(file);
  }
  expect(writers).toEqual(Object.keys(UNFENCED_REQUESTS).toSorted());
});

test("listTakers() finds every way of handing a client on", () => {
  const listed = [
    "function f({ client, clock }: Options): void {}",
    "const { client } = options;\nclient.close();\noptions.client.close();",
    "createReviewer(client, other(1));",
    "new Elector({ ...times,\n client,\n clock });",
    "const c = { client: fence(client) };",
    "run({ context: { client: options.client } });",
    "const shared = { clock, client };",
    "return options.client;",
  ].map(listTakers);
  expect(listed).toEqual([
    [],
    [],
    ["createReviewer"],
    ["Elector"],
    ["fence"],
    ["run"],
    ["nobody in particular"],
    ["nobody in particular"],
  ]);
});

/** What is called with a client in hand: the innermost call. Who only calls the client itself is not given it. */
function listTakers(source: string): string[] {
  const text = source
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")
    .replaceAll(/^import [^;]*;$/gm, "")
    .replaceAll(/"[^"\n]*"|`[^`]*`/g, '""');
  const takers: string[] = [];
  for (const { index } of text.matchAll(/\bclient\b(?!\s*:|\s*\??\.)/g)) {
    if (isDestructured(text, index)) continue;
    takers.push(findCall(text, index) ?? "nobody in particular");
  }
  return takers.filter((taker) => !taker.startsWith("function "));
}

/** Whether a client is only taken out of something here: `const { client } = options`. */
function isDestructured(text: string, at: number): boolean {
  const open = text.lastIndexOf("{", at);
  return /\b(const|let)\s*$/.test(text.slice(0, open)) && /^[^{}]*\}\s*=/.test(text.slice(at));
}

function findCall(text: string, at: number): string | undefined {
  let depth = 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    if (text[index] === ")") depth += 1;
    if (text[index] !== "(") continue;
    if (depth === 0) return /(?:function )?[\w.]+$/.exec(text.slice(0, index))?.[0];
    depth -= 1;
  }
  return undefined;
}
