/**
 * The messages that docs/guides/troubleshooting.md quotes, against the code that says them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { POOL_PROBLEMS } from "../lib/cloud/pools/problems.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { systemClock } from "../lib/core/clock.ts";
import { describeError } from "../lib/core/errors.ts";
import { silentLogger } from "../lib/core/log.ts";
import { formatListenAddress } from "../lib/core/net/listen_address.ts";
import { startHttpServer } from "../lib/http/sockets/server.ts";
import { listCodeBlocks, checkQuotes } from "./support/markdown_links.ts";
import { readSource } from "./support/sources.ts";

const PAGE = await readSource("docs/guides/troubleshooting.md");
const CLOUDSTACK_PAGE = await readSource("docs/guides/troubleshooting-cloudstack.md");

/** Commands, settings, and what Kubernetes says. */
const OTHERS = /^(?:kubectl|landfall|ss|systemctl) |^[\w.]+: |^[\w-]+ = |^didn't have free ports$/;
/** What the code puts into messages. */
const VARIABLES =
  /…|\bvms\b|\bpool is\b|\bzone and\b|\bare\b|ahead of|behind|in project|in no project/;

describe("messages that troubleshooting.md and troubleshooting-cloudstack.md quote", () => {
  test.each([
    [
      "troubleshooting.md",
      PAGE,
      10,
      ["providers/xenorchestra", "core/http", "http/page", "kube/cache"],
    ],
    [
      "troubleshooting-cloudstack.md",
      CLOUDSTACK_PAGE,
      30,
      ["providers/cloudstack", "controllers/node_lifecycle", "cli/check"],
    ],
  ])("are in the code: %s", async (_, page, least, rooms) => {
    const folders = [...rooms, "cloud", "cloud_http"].map((room) => `lib/${room}`);
    const options = { folders, others: OTHERS, variables: VARIABLES };
    const { count, unknown } = await checkQuotes(page, options);
    expect(count).toBeGreaterThanOrEqual(least);
    expect(unknown).toEqual([]);
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

/** Reasons that say that all is well. */
const GOOD: ReadonlySet<string> = new Set([
  "AllFieldsUsed",
  "AllHostsPublished",
  "AllMachinesReady",
  "AllPartsMade",
  "HostPublished",
  "HostsLabelled",
  "MachineExists",
  "NoHostInError",
  "NoPasswordInSpec",
  "NoUnknownClaims",
  "NothingBlocked",
  "NothingDiffers",
  "ReconciliationSucceeded",
  "ServicesAvailable",
  "Wanted",
]);

/** What Events, conditions and address pools say. */
async function listReasons(): Promise<string[]> {
  const kinds = await Promise.all(CONTROLLERS.map(async (one) => (await one.loadKinds?.()) ?? []));
  const events = CONTROLLERS.flatMap((one) => Object.values(one.events));
  return [
    ...events.flatMap(({ type, reason }) => (type === "Warning" ? [reason] : [])),
    ...kinds.flat().flatMap(({ conditions }) => conditions.map(({ reason }) => reason)),
    ...Object.keys(POOL_PROBLEMS),
  ];
}

test("troubleshooting.md says of every reason that commands and pages show what to do", async () => {
  const [, section = ""] = PAGE.split("\n## What a reason means\n");
  const rows = new Map(
    [...section.matchAll(/^\| `(\w+)` +\| [\w, ]+ +\| (.+?) +\|$/gm)].map(
      ([, reason = "", what = ""]) => [reason, what],
    ),
  );
  const wanted = new Set((await listReasons()).filter((reason) => !GOOD.has(reason)));
  expect([...wanted].filter((reason) => !rows.has(reason))).toEqual([]);
  expect([...rows.keys()].filter((reason) => !wanted.has(reason))).toEqual([]);
  // A row says it in a sentence, or leads to where it is said.
  for (const [reason, what] of rows) {
    const links = [...what.matchAll(/\]\(([^)#]*)#([^)]+)\)/g)];
    const pages = await Promise.all(
      links.map(([, file = ""]) => readSource(`docs/guides/${file || "troubleshooting.md"}`)),
    );
    const isSaid = pages.some((page) => page.includes(reason));
    expect({ reason, isSaid: isSaid || /[a-z]{3,}[^[]*\.$/.test(what) }).toEqual({
      reason,
      isSaid: true,
    });
  }
});
