/**
 * Who may use the address of a Service of another namespace: Services in, changes of CloudStack out.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { SHARED_WITH } from "../../../../lib/cloud/address_sharing.ts";
import type { LoadBalancerSpec } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { parseCidr } from "../../../../lib/core/net/ip.ts";
import { toLbName } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import type { CloudModel } from "./cloud/cloud_model.ts";
import {
  converge,
  createCloud,
  HTTP,
  HTTPS,
  type KINDS,
  OWNER,
  release,
  toSpec,
} from "./cloud/services.ts";

const IP = "192.0.2.10";
const PINNED = "192.0.2.50";
const SSH = { ...HTTP, name: "ssh", port: 22, nodePort: 30_022 };
const VICTIM = toSpec({
  owner: { namespace: "victim", name: "shop", uid: "11111111-89ab-4cde-8f01-23456789abcd" },
  ports: [HTTPS],
  sourceRanges: ["10.0.0.0/8"],
  address: IP,
});
const EVIL = toSpec({
  owner: { namespace: "evil", name: "steal", uid: "22222222-89ab-4cde-8f01-23456789abcd" },
  ports: [HTTP, SSH],
  address: IP,
});
const THIRD = toSpec({
  owner: { namespace: "third", name: "next", uid: "44444444-89ab-4cde-8f01-23456789abcd" },
  ports: [{ ...HTTP, port: 81 }],
  address: IP,
});
const WORD = { [SHARED_WITH]: "web, evil" };
const ASK =
  "Service victim/shop has 192.0.2.10 and does not share it: ask its owners to add the namespace evil to its " +
  "annotation landfall.dev/share-address-with, ask an operator to give it to the namespace evil in " +
  "loadBalancers.sharing, or use another address";

/** What Kubernetes has. */
function have(cloud: CloudModel, ...claims: readonly LoadBalancerSpec[]): void {
  cloud.holders = claims.map((claim) => ({ claim, isLeaving: false }));
}

function leave(cloud: CloudModel, claim: LoadBalancerSpec): void {
  cloud.holders = cloud.holders?.map((one) =>
    one.claim.owner.uid === claim.owner.uid ? { ...one, isLeaving: true } : one,
  );
}

function drop(cloud: CloudModel, claim: LoadBalancerSpec): void {
  cloud.holders = cloud.holders?.filter((one) => one.claim.owner.uid !== claim.owner.uid);
}

/** The ports of a Service on any address. */
function listPorts(cloud: CloudModel, { owner }: LoadBalancerSpec): number[] {
  return [...cloud.rules.values()]
    .filter(({ name }) => name.startsWith(`${toLbName(owner.uid)}-`))
    .map(({ publicPort }) => publicPort);
}

/** Both Services on the address, as an older version let them: without a word. */
function setUpOld(kind: keyof typeof KINDS = "firewall"): CloudModel {
  const cloud = createCloud(kind);
  have(cloud, { ...VICTIM, annotations: WORD }, EVIL);
  converge(cloud, VICTIM);
  expect(converge(cloud, EVIL).ingress).toMatchObject([{ ip: IP }]);
  have(cloud, VICTIM, EVIL);
  return cloud;
}

describe("a Service that names the address of one of another namespace", () => {
  test("gets nothing, and says whom to ask", () => {
    const cloud = createCloud();
    have(cloud, VICTIM, EVIL);
    converge(cloud, VICTIM);
    const before = cloud.observation();
    const { plan, done } = converge(cloud, EVIL);
    expect([done, plan.ingress]).toEqual([[], undefined]);
    expect(plan.problems).toEqual([{ reason: "AddressNotUsable", isWaiting: true, message: ASK }]);
    expect([cloud.rules, cloud.firewallRules]).toEqual([
      new Map(before.rules),
      new Map(before.firewallRules),
    ]);
    // The ports stay those of the Service that has the address.
    const more = { ...VICTIM, ports: [HTTPS, HTTP] };
    expect(converge(cloud, more).plan.problems).toEqual([]);
  });

  test("keeps the address that it has meanwhile", () => {
    const cloud = createCloud();
    have(cloud, VICTIM, EVIL);
    converge(cloud, VICTIM);
    const { address: _, ...free } = EVIL;
    const { ingress } = converge(cloud, free);
    const { done, plan } = converge(cloud, { ...EVIL, ingress });
    expect([done, plan.problems.map(({ reason }) => reason)]).toEqual([[], ["AddressNotUsable"]]);
    expect(listPorts(cloud, EVIL)).toEqual([80, 22]);
  });

  test.each<[string, Partial<LoadBalancerSpec>, readonly string[], boolean]>([
    ["with the word of its owner", { annotations: WORD }, [], true],
    ["with a word for every namespace", { annotations: { [SHARED_WITH]: " * " } }, [], true],
    ["with a word for others", { annotations: { [SHARED_WITH]: "evil-2,web" } }, [], false],
    ["with the word of an operator", {}, ["evil", "victim"], true],
    ["with a word of an operator for every namespace", {}, ["*"], true],
    ["against the word of an operator", { annotations: WORD }, ["victim"], false],
  ])("%s", (_what, word, namespaces, isAllowed) => {
    const cloud = createCloud();
    const host = { ...VICTIM, ...word };
    const addresses = [parseCidr("192.0.2.0/28")].flatMap((one) => one ?? []);
    if (namespaces.length > 0) cloud.sharing = [{ addresses, namespaces }];
    have(cloud, host, EVIL);
    converge(cloud, host);
    const { plan } = converge(cloud, EVIL);
    expect(listPorts(cloud, EVIL)).toEqual(isAllowed ? [80, 22] : []);
    expect(plan.problems.map(({ reason }) => reason)).toEqual(
      isAllowed ? [] : ["AddressNotUsable"],
    );
  });

  test.each(["Team_A", "  ", ",", "evil third", "evil,Team_A", "evil,*.example"])(
    "gets nothing by a word that cannot be read, and its owner hears of that: %j",
    (text) => {
      const cloud = createCloud();
      const host = { ...VICTIM, annotations: { [SHARED_WITH]: text } };
      have(cloud, host, EVIL);
      expect(converge(cloud, host).plan.problems).toEqual([
        {
          reason: "InvalidAnnotation",
          isWaiting: false,
          message:
            `annotation landfall.dev/share-address-with has the value ${JSON.stringify(text)}, which lets in no ` +
            "namespace: write names of namespaces with commas between them, or * for all",
        },
      ]);
      expect(converge(cloud, EVIL).plan.problems).toMatchObject([{ reason: "AddressNotUsable" }]);
    },
  );

  test("cannot give its own word", () => {
    const cloud = createCloud();
    const evil = { ...EVIL, annotations: { [SHARED_WITH]: "*" } };
    have(cloud, VICTIM, evil);
    converge(cloud, VICTIM);
    expect(converge(cloud, evil).done).toEqual([]);
  });
});

describe("an address of a person", () => {
  const atPinned = (spec: LoadBalancerSpec): LoadBalancerSpec => ({ ...spec, address: PINNED });

  test("is of the namespace that uses it", () => {
    const cloud = createCloud();
    cloud.addAddress({ ip: PINNED, networkId: "net-1" });
    have(cloud, atPinned(VICTIM), atPinned(EVIL));
    expect(converge(cloud, atPinned(EVIL)).ingress).toMatchObject([{ ip: PINNED }]);
    const { done, plan } = converge(cloud, atPinned(VICTIM));
    expect([done, plan.problems.map(({ message }) => message)]).toEqual([
      [],
      [expect.stringMatching(/^Service evil\/steal has 192\.0\.2\.50 and does not share it/)],
    ]);
  });

  test("is only of the namespaces that an operator names", () => {
    const cloud = createCloud();
    cloud.addAddress({ ip: PINNED, networkId: "net-1" });
    const addresses = [parseCidr(PINNED)].flatMap((one) => one ?? []);
    cloud.sharing = [{ addresses, namespaces: ["victim"] }];
    have(cloud, atPinned(VICTIM), atPinned(EVIL));
    const { plan } = converge(cloud, atPinned(EVIL));
    expect(plan.problems.map(({ message }) => message)).toEqual([
      "the settings give 192.0.2.50 to other namespaces than evil: ask an operator to add it to " +
        "loadBalancers.sharing, or use another address",
    ]);
    expect(converge(cloud, atPinned(VICTIM)).ingress).toMatchObject([{ ip: PINNED }]);
  });

  test("that is free is taken for none but the namespaces that an operator names", () => {
    const cloud = createCloud();
    const addresses = [parseCidr(IP)].flatMap((one) => one ?? []);
    cloud.sharing = [{ addresses, namespaces: ["victim"] }];
    have(cloud, VICTIM, EVIL);
    const { done, plan } = converge(cloud, EVIL);
    expect([done, plan.problems]).toMatchObject([
      [],
      [
        {
          reason: "AddressNotUsable",
          message:
            "the settings give 192.0.2.10 to other namespaces than evil: ask an operator to add it to " +
            "loadBalancers.sharing, or use another address",
        },
      ],
    ]);
    expect(converge(cloud, VICTIM).ingress).toMatchObject([{ ip: IP }]);
  });

  test("needs the word of all Services that have it", () => {
    const cloud = createCloud();
    cloud.addAddress({ ip: PINNED, networkId: "net-1" });
    const host = { ...atPinned(VICTIM), annotations: WORD };
    const evil = { ...atPinned(EVIL), annotations: { [SHARED_WITH]: "*" } };
    have(cloud, host, evil, atPinned(THIRD));
    converge(cloud, host);
    converge(cloud, evil);
    const { done, plan } = converge(cloud, atPinned(THIRD));
    expect([done, plan.problems[0]?.message]).toEqual([
      [],
      expect.stringMatching(/^Service victim\/shop has /),
    ]);
    have(cloud, { ...host, annotations: { [SHARED_WITH]: "evil,third" } }, evil, atPinned(THIRD));
    expect(converge(cloud, atPinned(THIRD)).ingress).toMatchObject([{ ip: PINNED }]);
  });

  test("is of the Service whose status shows it, also while it has no rules there", () => {
    const cloud = createCloud();
    cloud.addAddress({ ip: PINNED, networkId: "net-1" });
    const host = { ...atPinned(VICTIM), ingress: [{ ip: PINNED }] };
    have(cloud, host, atPinned(EVIL));
    const { done, plan } = converge(cloud, atPinned(EVIL));
    expect([done, plan.problems.map(({ reason }) => reason)]).toEqual([[], ["AddressNotUsable"]]);
  });

  test.each<[string, string | undefined, string | undefined, readonly string[]]>([
    ["with the word of the one whom it let in", WORD[SHARED_WITH], "*", []],
    ["without that word", WORD[SHARED_WITH], undefined, []],
    ["without its own word, too", undefined, undefined, ["AddressNotShared"]],
  ])("stays that of who has it, %s", (_what, word, other, reasons) => {
    const cloud = createCloud();
    cloud.addAddress({ ip: PINNED, networkId: "net-1" });
    const give = (text?: string) => (text === undefined ? {} : { [SHARED_WITH]: text });
    const first = { ...atPinned(VICTIM), annotations: WORD };
    const older = { ...atPinned(EVIL), annotations: give(other) };
    have(cloud, first, older);
    const { ingress } = converge(cloud, first);
    converge(cloud, older);
    const host = { ...atPinned(VICTIM), ingress, annotations: give(word) };
    have(cloud, host, older);
    // Its only rule must be made again, and for a moment it has none.
    const moved = {
      ...host,
      ports: [
        { ...HTTPS, nodePort: 31_443 },
        { ...HTTP, port: 8080 },
      ],
    };
    const { plan, done } = converge(cloud, moved);
    expect(plan.problems.map(({ reason }) => reason)).toEqual([...reasons]);
    expect([done.length > 2, listPorts(cloud, VICTIM)]).toEqual([true, [443, 8080]]);
    for (const { message } of plan.problems) {
      expect(message).toBe(
        "Service evil/steal has 192.0.2.50 and does not share it: ask its owners to add the namespace victim to its " +
          "annotation landfall.dev/share-address-with, ask an operator to give it to the namespace victim in " +
          "loadBalancers.sharing, or use another address; both keep the address",
      );
    }
  });
});

test("a Service that another one let in cannot let in a third one", () => {
  const cloud = createCloud();
  const host = { ...VICTIM, annotations: { [SHARED_WITH]: "*" } };
  const evil = { ...EVIL, annotations: WORD };
  have(cloud, host, evil, THIRD);
  converge(cloud, host);
  const { ingress } = converge(cloud, evil);
  const { done, plan } = converge(cloud, THIRD);
  expect([done, plan.problems[0]?.message]).toEqual([
    [],
    expect.stringMatching(/^Service evil\/steal has /),
  ]);
  have(
    cloud,
    { ...host, annotations: WORD },
    { ...evil, annotations: { [SHARED_WITH]: "*" } },
    THIRD,
  );
  expect(converge(cloud, THIRD).plan.problems[0]?.message).toMatch(/^Service victim\/shop has /);
  // The one that is on the address needs only the word of whom it was taken for.
  have(cloud, host, evil, THIRD);
  const more = { ...evil, ingress, ports: [HTTP, SSH, { ...HTTP, port: 8080 }] };
  expect([converge(cloud, more).plan.problems, listPorts(cloud, EVIL)]).toEqual([
    [],
    [80, 22, 8080],
  ]);
});

describe("Services that an older version let share an address", () => {
  test("go on as they are, and say what to do", () => {
    const cloud = setUpOld();
    const { done, plan, ingress } = converge(cloud, EVIL);
    // Nothing else would say that it uses the address when its rules are gone.
    expect(done).toEqual([`name address ${IP} in the record`]);
    expect(ingress).toEqual([{ ip: IP, ipMode: "VIP" }]);
    expect(plan.problems).toEqual([
      {
        reason: "AddressNotShared",
        isWaiting: false,
        message: `${ASK}; until version 0.3, this Service keeps what it has there, and gets nothing more`,
      },
    ]);
    const { plan: host } = converge(cloud, VICTIM);
    expect(host.problems).toEqual([]);
  });

  test("get no more ports, and no port again that would have to go first", () => {
    const cloud = setUpOld();
    for (const ports of [
      [HTTP, SSH, { ...HTTPS, port: 8443 }],
      [HTTP, { ...SSH, nodePort: 31_022 }],
    ]) {
      const { done, plan } = converge(cloud, { ...EVIL, ports });
      expect([done, plan.ingress]).toEqual([[], undefined]);
      expect(plan.problems).toMatchObject([{ reason: "AddressNotUsable", isWaiting: true }]);
    }
  });

  test("may do all again with the word", () => {
    const cloud = setUpOld();
    have(cloud, { ...VICTIM, annotations: WORD }, EVIL);
    const { plan } = converge(cloud, { ...EVIL, ports: [HTTP, { ...SSH, nodePort: 31_022 }] });
    expect(plan.problems).toEqual([]);
  });
});

describe.each(["firewall", "tier", "tierAllow", "open"] as const)("in a network: %s", (kind) => {
  test("an address ends with its Service, also if one of another namespace is on it", () => {
    const cloud = setUpOld(kind);
    leave(cloud, VICTIM);
    const { plan } = release(cloud, VICTIM);
    expect(plan).toMatchObject({ ingress: [], problems: [] });
    expect([...cloud.addresses.values()].map(({ ip }) => ip)).not.toContain(IP);
    expect([cloud.rules.size, cloud.firewallRules.size]).toEqual([0, 0]);
    expect([...cloud.aclItems.values()].flat()).toEqual([]);
  });
});

test("an address that is kept loses the rules of Services that may not have it", () => {
  const cloud = setUpOld();
  const victim = { ...VICTIM, annotations: { "landfall.dev/keep-address": "true" } };
  have(cloud, victim, EVIL);
  leave(cloud, victim);
  expect(release(cloud, victim).done[0]).toBe(`tag address ${IP} as kept`);
  expect([cloud.addresses.size, cloud.rules.size, cloud.firewallRules.size]).toEqual([1, 0, 0]);
  drop(cloud, victim);
  expect(converge(cloud, EVIL).plan.problems).toMatchObject([{ reason: "AddressNotUsable" }]);
});

test("a kept address is of the Services of its namespace: they come onto it, and give their word", () => {
  const cloud = createCloud();
  const keep = { "landfall.dev/keep-address": "true" };
  const before = { ...VICTIM, annotations: { ...keep, [SHARED_WITH]: "evil,third" } };
  have(cloud, before, EVIL);
  converge(cloud, before);
  converge(cloud, EVIL);
  leave(cloud, before);
  release(cloud, before);
  const heir = toSpec({ ...VICTIM, owner: { ...OWNER, namespace: "victim" } });
  have(cloud, heir, EVIL, THIRD);
  expect(converge(cloud, heir).ingress).toMatchObject([{ ip: IP }]);
  expect(converge(cloud, EVIL).plan.problems).toEqual([]);
  expect(converge(cloud, THIRD).done).toEqual([]);
  const shared = { ...heir, annotations: { [SHARED_WITH]: "third,fourth" } };
  const fourth = toSpec({
    owner: { namespace: "fourth", name: "next", uid: "55555555-89ab-4cde-8f01-23456789abcd" },
    ports: [{ ...HTTP, port: 82 }],
    address: IP,
  });
  have(cloud, shared, { ...EVIL, annotations: { [SHARED_WITH]: "*" } }, fourth);
  expect(converge(cloud, fourth).ingress).toMatchObject([{ ip: IP }]);
});

test("what goes with an address is not made again for a Service that may not have it", () => {
  const cloud = setUpOld();
  leave(cloud, VICTIM);
  for (const { id, startPort } of cloud.firewallRules.values()) {
    if (startPort === 22) cloud.firewallRules.delete(id);
  }
  const { done, plan } = converge(cloud, EVIL);
  expect([done, plan.problems.map(({ reason }) => reason)]).toEqual([[], ["AddressNotUsable"]]);
});

test("what belongs to no Service keeps an address that ends", () => {
  const cloud = setUpOld();
  const [address] = cloud.addresses.values();
  const addressId = address?.id ?? "";
  cloud.addRule({ name: "theirs", addressId, networkId: "net-1", publicPort: 8080 });
  leave(cloud, VICTIM);
  release(cloud, VICTIM);
  expect([...cloud.rules.values()].map(({ name }) => name)).toEqual(["theirs"]);
  expect(cloud.addresses.size).toBe(1);
});

test("the last Service of those that may have the address ends it", () => {
  const cloud = createCloud();
  const sibling = toSpec({
    owner: { namespace: "victim", name: "second", uid: "33333333-89ab-4cde-8f01-23456789abcd" },
    ports: [{ ...HTTP, port: 8080, nodePort: 30_808 }],
    address: IP,
  });
  have(cloud, { ...VICTIM, annotations: WORD }, EVIL, sibling);
  for (const one of [VICTIM, EVIL, sibling]) converge(cloud, one);
  have(cloud, VICTIM, EVIL, sibling);
  leave(cloud, VICTIM);
  const { plan } = release(cloud, VICTIM);
  expect(plan.problems).toMatchObject([{ reason: "AddressKept" }]);
  drop(cloud, VICTIM);
  expect(listPorts(cloud, sibling)).toEqual([8080]);
  leave(cloud, sibling);
  release(cloud, sibling);
  expect([cloud.rules.size, cloud.addresses.size]).toEqual([0, 0]);
});

describe("with the word of its owner, a Service of another namespace", () => {
  function setUp(): CloudModel {
    const cloud = createCloud();
    const host = { ...VICTIM, annotations: WORD };
    have(cloud, host, EVIL);
    converge(cloud, host);
    converge(cloud, EVIL);
    leave(cloud, host);
    const { plan, done } = release(cloud, host);
    expect(plan.problems).toMatchObject([{ reason: "AddressKept", isWaiting: false }]);
    expect(done[0]).toBe(`tag address ${IP}`);
    drop(cloud, host);
    return cloud;
  }

  test("keeps the address after its owner, gets more ports there, and ends it", () => {
    const cloud = setUp();
    const { plan } = converge(cloud, { ...EVIL, ports: [HTTP, SSH, HTTPS] });
    expect([plan.problems, listPorts(cloud, EVIL)]).toEqual([[], [80, 22, 443]]);
    release(cloud, EVIL);
    expect([cloud.rules.size, cloud.addresses.size]).toEqual([0, 0]);
  });

  test("does not pass the word on", () => {
    const cloud = setUp();
    const third = toSpec({ address: IP, ports: [{ ...HTTP, port: 81 }] });
    const evil = { ...EVIL, annotations: { [SHARED_WITH]: "*" } };
    have(cloud, evil, third);
    const { done, plan } = converge(cloud, third);
    expect([done, plan.problems.map(({ message }) => message)]).toEqual([
      [],
      [
        "192.0.2.10 was taken for Service victim/shop, which is gone: ask an operator to give it to the namespace " +
          "shop in loadBalancers.sharing, or use another address",
      ],
    ]);
  });

  test("that goes first leaves nothing, and the owner keeps the address", () => {
    const cloud = createCloud();
    const host = { ...VICTIM, annotations: WORD };
    have(cloud, host, EVIL);
    converge(cloud, host);
    converge(cloud, EVIL);
    leave(cloud, EVIL);
    const { plan } = release(cloud, EVIL);
    expect([plan.problems, listPorts(cloud, EVIL)]).toEqual([[], []]);
    expect(listPorts(cloud, VICTIM)).toEqual([443]);
  });
});

describe("an address whose Service went without a release", () => {
  test("gives nothing more to a Service of another namespace that is on it, and ends with it", () => {
    const cloud = setUpOld();
    drop(cloud, VICTIM);
    for (const { id, publicPort } of cloud.rules.values()) {
      if (publicPort === 443) cloud.removeRule(id);
    }
    for (const { id, startPort } of cloud.firewallRules.values()) {
      if (startPort === 443) cloud.firewallRules.delete(id);
    }
    const { plan, record } = converge(cloud, EVIL);
    expect(plan.problems).toMatchObject([{ reason: "AddressNotShared" }]);
    const evil = { ...EVIL, ...(record !== undefined && { record }) };
    expect(converge(cloud, { ...evil, ports: [HTTP, SSH, HTTPS] }).done).toEqual([]);
    release(cloud, evil);
    expect([cloud.rules.size, cloud.addresses.size]).toEqual([0, 0]);
  });

  test("is not released by one of another namespace that only names it", () => {
    const cloud = createCloud();
    have(cloud, VICTIM, EVIL);
    converge(cloud, VICTIM);
    drop(cloud, VICTIM);
    for (const id of cloud.rules.keys()) cloud.removeRule(id);
    cloud.firewallRules.clear();
    expect(converge(cloud, EVIL).done).toEqual([]);
    leave(cloud, EVIL);
    const { plan, done } = release(cloud, EVIL);
    expect([plan.ingress, done]).toEqual([[], []]);
    expect(cloud.addresses.size).toBe(1);
  });

  test("is inherited by one of its namespace", () => {
    const cloud = createCloud();
    have(cloud, VICTIM);
    converge(cloud, VICTIM);
    drop(cloud, VICTIM);
    for (const id of cloud.rules.keys()) cloud.removeRule(id);
    const heir = toSpec({ ...VICTIM, owner: { ...EVIL.owner, namespace: "victim" } });
    expect(converge(cloud, heir).ingress).toMatchObject([{ ip: IP }]);
    release(cloud, heir);
    expect(cloud.addresses.size).toBe(0);
  });
});
