import { describe, expect, test } from "bun:test";
import type { Coverage } from "../../../../lib/cloud/inventory/inventory.ts";
import {
  judgeConnections,
  nameServer,
  nameState,
  type ServersReply,
  withoutLost,
} from "../../../../lib/providers/xenorchestra/proof/connections.ts";
import type { Server } from "../../../../lib/providers/xenorchestra/wire/schema.ts";

const COVERAGE = new Map<string, Coverage>([
  ["a", { complete: true, name: "Paris" }],
  ["b", { complete: true, name: "Lyon" }],
  ["lost", { complete: false }],
]);
const A: Server = { id: "1", label: "one", enabled: true, status: "connected", poolId: "a" };
const B: Server = { ...A, id: "2", label: "two", poolId: "b" };
const OFF: Server = { id: "3", label: "three", enabled: false, status: "disconnected" };

function judge(servers: ServersReply): string {
  const connections = judgeConnections(servers, COVERAGE);
  return connections.kind === "clear" ? "clear" : `${connections.kind}: ${connections.why}`;
}

/** A list that can be read. */
function list(...objects: readonly Server[]): ServersReply {
  return { objects, undecodable: new Map() };
}

describe("judgeConnections()", () => {
  const cases: [string, ServersReply, string][] = [
    ["names every pool that is shown", list(A, B), "clear"],
    ["names a pool twice", list(A, { ...A, id: "4" }, B), "clear"],
    ["has a connection that is disabled, too", list(A, B, OFF), "clear"],
    ["is refused", "refused", "unreadable: … the user has no right to read it"],
    ["is missing", "missing", "unreadable: … this server has no such list"],
    ["is empty", list(), "unreadable: … it is empty"],
    [
      "lacks a pool",
      list(B),
      "unreadable: … it shows no connection to pool Paris, although Xen Orchestra shows the pool",
    ],
    [
      "has nothing but a disabled one",
      list(OFF),
      "unreadable: … it shows no connection to pool Paris, although",
    ],
    [
      "has one that is not up",
      list(A, B, { ...A, status: "connecting" }),
      'doubtful: the connection "one" is connecting',
    ],
    [
      "has one that is up without a pool",
      list(A, B, { ...A, poolId: null }),
      'doubtful: the connection "one" is up, but its pool is not loaded',
    ],
    [
      "has one that is up to a pool that is lost",
      list(A, B, { ...A, poolId: "lost" }),
      'doubtful: the connection "one" is up, but its pool is not loaded',
    ],
    [
      "has one that is disabled, of a pool that is shown",
      list(A, B, { ...OFF, poolId: "b" }),
      'doubtful: the connection "three" is disabled, but Xen Orchestra shows its pool',
    ],
    [
      "has one that cannot be read",
      { objects: [A, B], undecodable: new Map([["3", "enabled: must be boolean"]]) },
      "doubtful: Landfall cannot read one of the connections to pools: enabled: must be boolean",
    ],
  ];

  test.each(cases)("judges a list that %s", (_title, servers, expected) => {
    const full = expected.replace("…", "Landfall cannot read the list of connections to pools:");
    expect(judge(servers)).toStartWith(full);
  });

  test("says which right to give where a right is missing", () => {
    expect(judgeConnections("refused", COVERAGE)).toMatchObject({
      advice: expect.stringContaining('"read" on "server"'),
    });
    expect(judgeConnections("missing", COVERAGE)).toMatchObject({
      advice: expect.stringContaining("update Xen Orchestra"),
    });
  });
});

describe("nameServer()", () => {
  test("takes the label, else the address, else the ID", () => {
    expect(nameServer({ id: "1", label: "rack", host: "10.0.0.1" })).toBe("rack");
    expect(nameServer({ id: "1", label: "", host: "10.0.0.1" })).toBe("10.0.0.1");
    expect(nameServer({ id: "1", label: null })).toBe("1");
  });
});

describe("nameState()", () => {
  test("says what is known, and never more than a line of it", () => {
    expect(nameState({ id: "1", status: "connecting" })).toBe("connecting");
    expect(nameState({ id: "1" })).toBe("in an unknown state");
    expect(nameState({ id: "1", status: "x".repeat(2_000) }).length).toBeLessThanOrEqual(101);
    expect(nameServer({ id: "1", label: "x".repeat(2_000) }).length).toBeLessThanOrEqual(101);
  });
});

describe("withoutLost()", () => {
  const down: Server = { ...A, id: "9", status: "connecting", poolId: null };

  test.each<[string, ServersReply, "clear" | "doubtful" | "unreadable"]>([
    ["one is down beside those of all pools that are shown", list(A, B, down), "clear"],
    ["one is down, and a pool that is shown has none", list(A, down), "unreadable"],
    ["one is down, and there is no other", list(down), "unreadable"],
    ["one is down that still names its pool", list(A, B, { ...down, poolId: "b" }), "doubtful"],
    ["one is up without its pool", list(A, B, { ...A, poolId: null }), "doubtful"],
    ["the list is refused", "refused", "unreadable"],
  ])("when %s", (_title, servers, kind) => {
    expect(judgeConnections(withoutLost(servers), COVERAGE).kind).toBe(kind);
  });
});
