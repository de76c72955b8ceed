/**
 * When the networks are listed, and when not.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { Networks } from "../../../../../lib/providers/cloudstack/load_balancers/reading/networks.ts";
import type { Network } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { toNetwork } from "../objects.ts";

const signal = new AbortController().signal;
const LISTED = [
  toNetwork("plain"),
  toNetwork("tier", { vpcId: "vpc", aclListId: "acl" }),
  toNetwork("tier-2", { vpcId: "vpc", aclListId: "acl" }),
  toNetwork("named", { vpcId: "vpc", aclListId: "acl-2", aclListName: "default_deny" }),
];

let asked: string[];
let listed: readonly Network[];
let clock: ManualClock;
let networks: Networks;
beforeEach(() => {
  asked = [];
  listed = LISTED;
  clock = new ManualClock();
  const api = {
    listNetworks: () => {
      asked.push("networks");
      return Promise.resolve({ objects: listed, unreadable: [] });
    },
    readAclListName: (listId: string) => {
      asked.push(listId);
      return Promise.resolve(`name of ${listId}`);
    },
  };
  networks = new Networks(api, clock);
});

async function read(...wanted: string[]): Promise<ReadonlyMap<string, Network>> {
  const question = { wanted: new Set(wanted), projectId: undefined };
  return (await networks.read(question, signal)).networks;
}

describe("Networks", () => {
  test("lists all of them once, whoever wants which", async () => {
    expect([...(await read("plain")).keys()]).toEqual(LISTED.map(({ id }) => id));
    await read();
    await read("named");
    expect(asked).toEqual(["networks"]);
  });

  test("asks once for the name of a list that a wanted network does not show", async () => {
    const found = await read("tier", "tier-2", "named");
    expect(found.get("tier")?.aclListName).toBe("name of acl");
    expect(found.get("tier-2")?.aclListName).toBe("name of acl");
    await read("tier");
    expect(asked).toEqual(["networks", "acl"]);
  });

  test("asks for the name of a list as soon as its network is wanted", async () => {
    expect((await read("plain")).get("tier")?.aclListName).toBeUndefined();
    expect((await read("plain", "tier")).get("tier")?.aclListName).toBe("name of acl");
  });

  test("looks again for a network that it was not shown, until it is", async () => {
    await read("plain", "new");
    await read("plain", "new");
    expect(asked).toEqual(["networks", "networks"]);
    listed = [...LISTED, toNetwork("new")];
    expect((await read("new")).has("new")).toBe(true);
    await read("plain", "new");
    expect(asked).toHaveLength(3);
  });

  test("lists them again after an hour, and when it must forget them", async () => {
    await read("plain");
    await clock.advance(3_599_999);
    await read("plain");
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await read("plain");
    expect(asked).toHaveLength(2);
    networks.forget();
    await read("plain");
    expect(asked).toHaveLength(3);
  });

  test("lists them again after nine minutes for a tier: its ACL list may be another one", async () => {
    const count = (): number => asked.filter((one) => one === "networks").length;
    await read("tier");
    await clock.advance(539_999);
    await read("tier");
    expect(count()).toBe(1);
    await clock.advance(1);
    await read("tier");
    expect(count()).toBe(2);
  });
});
