/**
 * The messages that docs/guides/troubleshooting.md quotes, against the code that says them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../lib/core/clock.ts";
import { describeError } from "../lib/core/errors.ts";
import { silentLogger } from "../lib/core/log.ts";
import { formatListenAddress } from "../lib/http/sockets/listen_address.ts";
import { startHttpServer } from "../lib/http/sockets/server.ts";
import { listCode, listCodeBlocks } from "./support/markdown_links.ts";
import { readSource } from "./support/sources.ts";

const PAGE = await readSource("docs/guides/troubleshooting.md");

/** Messages on the page, each with the file that has it and the text as it stands there. */
const QUOTES: readonly (readonly [quote: string, file: string, text: string])[] = [
  [
    "Cannot trust the certificate of …",
    "lib/cloud_http/diagnosis.ts",
    "Cannot trust the certificate of ",
  ],
  [
    "Xen Orchestra answered 401",
    "lib/providers/xenorchestra/session/reply_error.ts",
    "Xen Orchestra answered 401",
  ],
  [
    "Xen Orchestra does not show a pool that a Node or a setting names",
    "lib/providers/xenorchestra/scope/named_pools.ts",
    "Xen Orchestra does not show a pool that a Node or a setting names",
  ],
  [
    "Xen Orchestra has no VM with the system UUID …",
    "lib/providers/xenorchestra/model/presence.ts",
    "Xen Orchestra has no VM with the system UUID ",
  ],
  ["certificate not trusted", "lib/core/net/connection_problem.ts", "certificate not trusted"],
  [
    "does not accept the credentials (401)",
    "lib/providers/xenorchestra/inspection/diagnose.ts",
    "does not accept the credentials (401)",
  ],
  ["no match", "lib/http/page/state.ts", "no match"],
  ["no pool is visible", "lib/cloud/inspection.ts", "no ${words.part} is visible"],
  ["no vms are visible", "lib/cloud/inspection.ts", "no ${instances} are visible"],
];
/** Commands and settings. */
const OTHERS = /^(kubectl|landfall|ss|systemctl) |^[\w.]+: /;
/** What others say. */
const OF_KUBERNETES = ["didn't have free ports"];

describe("messages that troubleshooting.md quotes", () => {
  test("are all on the list of this test", () => {
    const known = [...QUOTES.map(([quote]) => quote), ...OF_KUBERNETES];
    expect([...new Set(listQuotes())].sort()).toEqual(known.sort());
  });

  test.each(QUOTES)("%s is in the code", async (quote, file, text) => {
    expect(await readSource(file)).toContain(text);
    const pattern = text.replaceAll(/[()]/g, "\\$&").replaceAll(/\$\{[^}]*\}/g, ".+");
    expect(quote.replace(/…$/, "")).toMatch(new RegExp(`^${pattern}$`));
  });

  test("of a port that is in use is that of the program", async () => {
    const [quote = ""] = listCodeBlocks(PAGE, "text");
    const { signal } = new AbortController();
    const options = { signal, handler: { fetch: () => new Response() }, clock: systemClock };
    const flags = { flag: "--debug-address", log: silentLogger } as const;
    const address = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
    const server = await startHttpServer({ ...options, ...flags, address });
    const again = startHttpServer({ ...options, ...flags, address: server.address });
    const said = await again.then(() => "it listens twice", describeError);
    const shown = formatListenAddress(server.address);
    await server.stop(1_000);
    expect(quote.trim()).toBe(`landfall: ${said.replace(shown, "127.0.0.1:10260")}`);
  });
});

/** Text in the type of code with a space in it, if it is neither a command nor a setting. */
function listQuotes(): string[] {
  const spans = listCode(PAGE.replaceAll(/^ *```[^]*?^ *```$/gm, ""));
  return spans.filter((text) => text.includes(" ") && !OTHERS.test(text));
}
