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
