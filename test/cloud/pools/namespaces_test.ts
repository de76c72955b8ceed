/**
 * Who may use the address of a Service of another namespace: Services in, their status out.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { SHARED_WITH } from "../../../lib/cloud/address_sharing.ts";
import type { LoadBalancerSpec } from "../../../lib/cloud/capabilities/load_balancers.ts";
import { type LoadBalancerSettings, LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { PooledServices, toSpec } from "../../support/pools/services.ts";

const KEY = { "landfall.dev/shared-address": "k" };
const WORD = { ...KEY, [SHARED_WITH]: "web, evil" };
const IP = "192.0.2.11";
const VICTIM = toSpec("shop", {
  namespace: "victim",
  address: IP,
  annotations: KEY,
  ports: [{ protocol: "TCP", port: 443 }],
});
const EVIL = toSpec("steal", {
  namespace: "evil",
  address: IP,
  annotations: KEY,
  ports: [{ protocol: "TCP", port: 80 }],
});
const THIRD = toSpec("third", {
  namespace: "third",
  address: IP,
  annotations: KEY,
  ports: [{ protocol: "TCP", port: 81 }],
});
const ASK =
  "Service victim/shop has 192.0.2.11 and does not share it: ask its owners to add the namespace evil to its " +
  "annotation landfall.dev/share-address-with, ask an operator to give it to the namespace evil in " +
  "loadBalancers.sharing, or use another address";

function toSettings(namespaces?: readonly string[], shareable = true): LoadBalancerSettings {
  const { settings, issues } = LOAD_BALANCERS.parse({
    pools: [{ name: "a", addresses: ["192.0.2.10-192.0.2.12"], shareable }],
    ...(namespaces && { sharing: [{ addresses: ["192.0.2.0/24"], namespaces }] }),
  });
  expect(issues).toEqual([]);
  return settings;
}

/** Settles Services one after the other. */
async function settle(
  services: PooledServices,
  ...specs: readonly LoadBalancerSpec[]
): Promise<readonly (readonly string[])[]> {
  const reasons: (readonly string[])[] = [];
  for (const one of specs) {
    services.put(one);
    const { problems } = await services.settle(one);
    reasons.push(problems.map(({ reason }) => reason));
  }
  return reasons;
}

describe("a Service that asks for the address of one of another namespace", () => {
  test("gets nothing, and says whom to ask", async () => {
    const services = new PooledServices(toSettings());
    await settle(services, VICTIM);
    services.put(EVIL);
    const { problems } = await services.settle(EVIL);
    expect(problems).toMatchObject([{ reason: "AddressNotUsable", message: ASK }]);
    expect(services.shown(EVIL)).toEqual([]);
    // The Service that has it can have the port.
    const ports = [{ protocol: "TCP" as const, port: 80, nodePort: 30_080 }];
    const both = services.edit(VICTIM, { ports: [...VICTIM.ports, ...ports] });
    expect(await settle(services, both)).toEqual([[]]);
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[] | undefined, boolean]>([
    ["with the word of its owner", WORD, undefined, true],
    ["with a word for every namespace", { ...KEY, [SHARED_WITH]: "*" }, undefined, true],
    ["with a word for others", { ...KEY, [SHARED_WITH]: "evil-2,web" }, undefined, false],
    ["with the word, but without a key", { [SHARED_WITH]: "evil" }, undefined, false],
    ["with the word of an operator", KEY, ["victim", "evil"], true],
    ["with a word of an operator for every namespace", KEY, ["*"], true],
    ["against the word of an operator", WORD, ["victim"], false],
  ])("%s", async (_what, annotations, namespaces, isAllowed) => {
    const settings = toSettings(namespaces);
    const services = new PooledServices(settings);
    await settle(services, { ...VICTIM, annotations });
    services.put(EVIL);
    await services.settle(EVIL);
    expect(services.shown(EVIL)).toEqual(isAllowed ? [IP] : []);
    services.restart(settings);
    expect(await settle(services, services.get(VICTIM))).toEqual([[]]);
    expect(services.shown(VICTIM)).toEqual([IP]);
  });

  test("cannot have it because it is older, or with a word of its own, or a forged record", async () => {
    const settings = toSettings();
    const services = new PooledServices(settings);
    await settle(services, VICTIM);
    const record = JSON.stringify({ v: 1, addresses: [IP] });
    const evil = services.put({ ...EVIL, annotations: { ...KEY, [SHARED_WITH]: "*" }, record });
    for (const isRestarted of [false, true]) {
      if (isRestarted) services.restart(settings);
      await services.settle(evil);
      expect(services.shown(EVIL)).toEqual([]);
      expect(await settle(services, services.get(VICTIM))).toEqual([[]]);
    }
  });

  test.each(["Team_A", "  ", "evil third", "evil,Team_A"])(
    "gets nothing by a word that cannot be read, and its owner hears of that: %j",
    async (text) => {
      const services = new PooledServices(toSettings());
      const host = services.put({ ...VICTIM, annotations: { ...KEY, [SHARED_WITH]: text } });
      const { problems } = await services.settle(host);
      expect(problems).toEqual([
        {
          reason: "InvalidAnnotation",
          isWaiting: false,
          message:
            `annotation landfall.dev/share-address-with has the value ${JSON.stringify(text)}, which lets in no ` +
            "namespace: write names of namespaces with commas between them, or * for all",
        },
      ]);
      expect(await settle(services, EVIL)).toEqual([["AddressNotUsable"]]);
    },
  );

  test("gets no word from an address of a pool that is not shareable", async () => {
    const services = new PooledServices(toSettings(undefined, false));
    await settle(services, { ...VICTIM, annotations: WORD });
    expect(await settle(services, EVIL)).toEqual([["AddressNotAvailable"]]);
  });

  test("is refused with policy Local: equal selectors of two namespaces select other Pods", async () => {
    const services = new PooledServices(toSettings());
    const local = { trafficPolicy: "Local", localPods: '{"app":"a"}' } as const;
    await settle(services, { ...VICTIM, ...local, annotations: WORD });
    expect(await settle(services, { ...EVIL, ...local })).toEqual([["AddressNotAvailable"]]);
  });

  test("is never put beside it without asking for the address", async () => {
    const services = new PooledServices(toSettings());
    await settle(services, { ...VICTIM, annotations: { ...KEY, [SHARED_WITH]: "*" } });
    const { address: _, ...free } = EVIL;
    await settle(services, free);
    expect(services.shown(EVIL)).not.toEqual([IP]);
    expect(services.shown(EVIL)).toHaveLength(1);
  });
});

test("an address that an operator gives to others is refused to all else, also while nobody has it", async () => {
  const services = new PooledServices(toSettings(["victim"]));
  services.put(EVIL);
  const { problems } = await services.settle(EVIL);
  expect(problems).toMatchObject([
    {
      reason: "AddressNotUsable",
      message:
        "the settings give 192.0.2.11 to other namespaces than evil: ask an operator to add it to " +
        "loadBalancers.sharing, or use another address",
    },
  ]);
});

describe("a free address that an operator gives only to other namespaces", () => {
  const parse = (pool: object, addresses: readonly string[]): LoadBalancerSettings => {
    const sharing = [
      { addresses, namespaces: ["victim"] },
      { addresses: ["192.0.2.12"], namespaces: ["evil"] },
    ];
    return LOAD_BALANCERS.parse({ pools: [{ name: "a", ...pool }], sharing }).settings;
  };
  const { address: _, ...free } = EVIL;
  const evil = [1, 2, 3].map((number) => ({
    ...free,
    annotations: {},
    owner: { ...EVIL.owner, name: `s${number}`, uid: `uid-${number}` },
  }));

  test("is given to no other Service", async () => {
    const pool = { addresses: ["192.0.2.10-192.0.2.13"] };
    const services = new PooledServices(parse(pool, ["192.0.2.11-192.0.2.13"]));
    expect(await settle(services, ...evil)).toEqual([[], [], ["AddressPoolExhausted"]]);
    expect(evil.flatMap((one) => services.shown(one)).toSorted()).toEqual([
      "192.0.2.10",
      "192.0.2.12",
    ]);
    const { problems } = await services.plan(evil[2] ?? free);
    expect(problems[0]?.message).toBe(
      "every IPv4 address of the pool a is in use, or of other namespaces by loadBalancers.sharing; " +
        "add addresses to loadBalancers.pools, or delete Services that are not needed",
    );
    const victims = ["a", "b"].map((name) => toSpec(name, { namespace: "victim" }));
    expect(await settle(services, ...victims)).toEqual([[], []]);
  });

  test("is given by no record, and not together with a Service of the same key", async () => {
    const pool = { addresses: ["192.0.2.10-192.0.2.11"], shareable: true };
    const services = new PooledServices(parse(pool, []));
    const [first = free, second = free, third = free] = evil;
    await settle(services, { ...first, address: "192.0.2.11", annotations: KEY });
    services.pools.reconfigure(parse(pool, ["192.0.2.11"]));
    const ports = [{ protocol: "TCP" as const, port: 81 }];
    await settle(services, { ...second, annotations: KEY, ports });
    services.delete(first);
    await settle(services, {
      ...third,
      record: JSON.stringify({ v: 1, addresses: ["192.0.2.11"] }),
    });
    expect([services.shown(second), services.shown(third)]).toEqual([["192.0.2.10"], []]);
  });

  test.each([
    ["2001:db8::/64", 0],
    ["2001:db8::-2001:db8::ffff:ffff:fffe", 1],
  ])("costs no time, with %s", async (given, count) => {
    const pool = { addresses: ["2001:db8::-2001:db8::ffff:ffff:ffff"] };
    const services = new PooledServices(parse(pool, [given]));
    const [one = free] = evil;
    await settle(services, { ...one, ipFamilies: ["IPv6"] });
    expect(services.shown(one)).toHaveLength(count);
  });
});

describe("with the word, a Service of another namespace", () => {
  test("keeps the address after its owner, and does not give the owner's word", async () => {
    const settings = toSettings();
    const services = new PooledServices(settings);
    await settle(services, { ...VICTIM, annotations: WORD }, EVIL);
    services.delete(VICTIM);
    services.restart(settings);
    expect(await settle(services, services.get(EVIL))).toEqual([[]]);
    expect(services.shown(EVIL)).toEqual([IP]);
    expect(await settle(services, THIRD)).toEqual([["AddressNotUsable"]]);
  });

  test("leaves the address to its owner, who decides about the next one", async () => {
    const services = new PooledServices(toSettings());
    const evil = { ...EVIL, annotations: { ...KEY, [SHARED_WITH]: "*" } };
    await settle(services, { ...VICTIM, annotations: WORD }, evil);
    expect(await settle(services, THIRD)).toEqual([["AddressNotUsable"]]);
    services.delete(evil);
    expect(await settle(services, services.get(VICTIM))).toEqual([[]]);
    expect(services.shown(VICTIM)).toEqual([IP]);
  });

  test("cannot let in a third one", async () => {
    for (const [word, own, who] of [
      ["evil", "*", "victim/shop"],
      ["*", "victim", "evil/steal"],
    ]) {
      const services = new PooledServices(toSettings());
      const host = { ...VICTIM, annotations: { ...KEY, [SHARED_WITH]: word ?? "" } };
      const evil = { ...EVIL, annotations: { ...KEY, [SHARED_WITH]: own ?? "" } };
      await settle(services, host, evil);
      services.put(THIRD);
      const { problems } = await services.settle(THIRD);
      expect(problems).toMatchObject([
        { reason: "AddressNotUsable", message: expect.stringContaining(`Service ${who} has`) },
      ]);
      services.edit(host, { annotations: { ...KEY, [SHARED_WITH]: "*" } });
      services.edit(evil, { annotations: { ...KEY, [SHARED_WITH]: "third" } });
      expect(await settle(services, THIRD)).toEqual([[]]);
    }
  });

  test("keeps the address when the word ends, and both say so; it gets no second Service there", async () => {
    const services = new PooledServices(toSettings());
    const evil = { ...EVIL };
    await settle(services, { ...VICTIM, annotations: WORD }, evil);
    services.edit(VICTIM, { annotations: KEY });
    expect(await settle(services, services.get(evil), services.get(VICTIM))).toEqual([
      ["AddressConflict"],
      ["AddressConflict"],
    ]);
    expect([services.shown(evil), services.shown(VICTIM)]).toEqual([[IP], [IP]]);
    const second = { ...THIRD, owner: { ...THIRD.owner, namespace: "evil" } };
    expect(await settle(services, second)).toEqual([["AddressNotUsable"]]);
  });
});

test("a status that was edited by hand keeps Services of other namespaces from its address", async () => {
  const services = new PooledServices(toSettings());
  const { address: _, ...free } = VICTIM;
  await settle(services, { ...VICTIM, annotations: WORD });
  await settle(services, EVIL);
  const edited = services.put({ ...THIRD, ingress: [{ ip: IP }] });
  await services.settle(edited);
  const next = { ...free, owner: { ...VICTIM.owner, name: "next", uid: "next" } };
  await settle(services, { ...next, ports: [{ protocol: "TCP", port: 8443 }] });
  expect(services.shown(next)).toHaveLength(1);
  expect(services.shown(next)).not.toEqual([IP]);
  expect(services.shown(VICTIM)).toEqual([IP]);
});
