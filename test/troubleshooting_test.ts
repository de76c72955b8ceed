/**
 * The messages that docs/guides/troubleshooting.md quotes, against the code that says them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../lib/core/clock.ts";
import { describeError } from "../lib/core/errors.ts";
import { silentLogger } from "../lib/core/log.ts";
import { formatListenAddress } from "../lib/core/net/listen_address.ts";
import { startHttpServer } from "../lib/http/sockets/server.ts";
import { listCode, listCodeBlocks } from "./support/markdown_links.ts";
import { readSource } from "./support/sources.ts";

const PAGE = await readSource("docs/guides/troubleshooting.md");
const CLOUDSTACK_PAGE = await readSource("docs/guides/troubleshooting-cloudstack.md");

/** A message on a page, the file that has it, and the text as it stands there. */
type Quote = readonly [quote: string, file: string, text: string];

const QUOTES: readonly Quote[] = [
  [
    "Cannot trust the certificate of …",
    "lib/cloud_http/diagnosis.ts",
    "Cannot trust the certificate of ",
  ],
  ["Cannot take inventory", "lib/cloud/inventory/source.ts", "Cannot take inventory"],
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
const ERRORS = "lib/providers/cloudstack/session/refusal.ts";
const REPLY = "lib/providers/cloudstack/session/reply.ts";
const FACTS = "lib/providers/cloudstack/session/facts.ts";
const ABSENCE = "lib/providers/cloudstack/proof/absence.ts";
const same = (file: string, ...texts: readonly string[]): Quote[] =>
  texts.map((text) => [text, file, text]);

/** Messages of CloudStack. */
const CLOUDSTACK_QUOTES: readonly Quote[] = [
  ...same(
    ERRORS,
    "the keys or the signature are wrong",
    "there is no project with this ID",
    "the account has no right to this object",
    "the server takes this command only by POST",
    "too many requests",
    "the management server shuts down or starts",
    "an internal error",
    "there is not enough capacity, such as free IP addresses",
    "the account or project has reached a limit",
    "something it needs, such as a router, does not answer",
  ),
  ...["ahead of", "behind"].map((word): Quote => [
    `its clock is … ${word} this machine's`,
    ERRORS,
    "its clock is ${difference} ${word} this machine's",
  ]),
  ["the role of the account has no …", ERRORS, "the role of the account has no "],
  ...same(
    REPLY,
    "this is not CloudStack's API",
    "a proxy on the way has no answer of the management server",
    "not CloudStack but something on the way refuses",
    "something on the way may have cut it off",
  ),
  [
    "CloudStack shows this account no project with the name …",
    FACTS,
    "CloudStack shows this account no project with the name ",
  ],
  [
    "CloudStack shows … projects with the name …",
    FACTS,
    "CloudStack shows ${count} projects with the name ",
  ],
  ["no vms are visible", "lib/cloud/inspection.ts", "no ${instances} are visible"],
  ...same("lib/providers/cloudstack/session/pages.ts", "the list changed while it was read"),
  ...same("lib/providers/cloudstack/session/keys.ts", "The keys changed"),
  [
    "CloudStack shows this user no VM with the name …",
    "lib/providers/cloudstack/generation.ts",
    "CloudStack shows this user no VM with the name ",
  ],
  [
    "Cannot choose between the VMs …",
    "lib/providers/cloudstack/model/matching.ts",
    "Cannot choose between the VMs ",
  ],
  [
    'VM … has the name "…" but is off',
    "lib/providers/cloudstack/model/matching.ts",
    'VM ${instance.id} has the name "${name}" but is off',
  ],
  [
    "Cannot tell which VM has the name …",
    "lib/providers/cloudstack/model/matching.ts",
    "Cannot tell which VM has the name ",
  ],
  ...same("lib/controllers/node_lifecycle/deleter.ts", "a direct request shows the machine"),
  [
    "Cannot read provider ID …",
    "lib/providers/cloudstack/model/provider_id.ts",
    "Cannot read provider ID ",
  ],
  ["Cannot prove that VM … is gone:", ABSENCE, "Cannot prove that VM ${vmId} is gone:"],
  ...same(
    ABSENCE,
    "this process has not seen it since it started or since its settings or keys changed",
    "it shows no VM of any other Node",
    "it answered with an empty list",
    "it appeared again a moment later",
    "CloudStack has no record of it (error 431), although it showed the VM before",
  ),
  ...["in project …", "in no project"].map((where): Quote => [
    `it is ${where} now; check project-id`,
    ABSENCE,
    "it is ${where} now; check project-id",
  ]),
  ["the list of VMs is not whole: …", ABSENCE, "the list of VMs is not whole: "],
  [
    "it lists no VM of another Node that belongs to …",
    ABSENCE,
    "it lists no VM of another Node that belongs to ",
  ],
];
/** Commands and settings. */
const OTHERS = /^(kubectl|landfall|ss|systemctl) |^[\w.]+: |^[\w-]+ = /;
/** What others say. */
const OF_KUBERNETES = ["didn't have free ports"];

describe("messages that troubleshooting.md and troubleshooting-cloudstack.md quote", () => {
  test.each([
    ["troubleshooting.md", PAGE, [...QUOTES.map(([quote]) => quote), ...OF_KUBERNETES]],
    [
      "troubleshooting-cloudstack.md",
      CLOUDSTACK_PAGE,
      CLOUDSTACK_QUOTES.map(([quote]) => quote).filter((quote) => quote !== "The keys changed"),
    ],
  ])("are all on the lists of this test: %s", (_, page, known) => {
    expect([...new Set(listQuotes(page))].sort()).toEqual(known.toSorted());
  });

  test.each([...QUOTES, ...CLOUDSTACK_QUOTES])("%s is in the code", async (quote, file, text) => {
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
function listQuotes(page: string): string[] {
  const spans = listCode(page.replaceAll(/^ *```[^]*?^ *```$/gm, ""));
  return spans.filter((text) => text.includes(" ") && !OTHERS.test(text));
}
