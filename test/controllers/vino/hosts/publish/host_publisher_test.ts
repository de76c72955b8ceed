/**
 * Hosts and Secrets on a simulated API server, beside people.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PUBLISH_AGAIN } from "../../../../../lib/controllers/vino/hosts/words.ts";
import { PAUSED, VINO_UID } from "../../../../../lib/kube/kinds/bare_metal_host.ts";
import {
  publishEach,
  type PublisherRig,
  startPublisher,
} from "../../../../support/vino/publisher_rig.ts";
import { BMC, OWNER, toWanted } from "../../../../support/vino/wanted_hosts.ts";

const HOST = "edge-worker-0";
const DATA = `${HOST}-network-data`;
const CREDENTIALS = `${HOST}-bmc-credentials`;
const CHECK_MS = 300_000;
const RACK = "vino.airshipit.org/rack";

let rig: PublisherRig;
beforeEach(async () => {
  rig = await startPublisher();
});
afterEach(async () => await rig[Symbol.asyncDispose]());

const pause = (isPaused: boolean): void =>
  rig.edit(HOST, { metadata: { annotations: { [PAUSED]: isPaused ? "metal3.io/capm3" : null } } });
const consume = (isUsed: boolean): void =>
  rig.edit(HOST, { spec: { consumerRef: isUsed ? { kind: "Metal3Machine", name: "m-1" } : null } });
const uidOf = (name: string): unknown => rig.host(name)?.metadata["uid"];
const textsOf = (name: string): Record<string, string> => {
  const { data = {} } = { ...rig.secret(name) } as { data?: Record<string, string> };
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text)]));
};

describe("publish() of new hosts", () => {
  test("makes the Secret, then the host, and gives the Secret to the host", async () => {
    const report = await rig.publish({ hosts: [toWanted()] });
    expect(report.states).toEqual([`${HOST} Published`]);
    expect(report.requests).toEqual([
      "create secrets/",
      "create baremetalhosts/",
      `get secrets/${DATA}`,
      `patch secrets/${DATA}`,
    ]);
    expect(rig.host(HOST)?.metadata).not.toHaveProperty("ownerReferences");
    expect(rig.host(HOST)).toMatchObject({
      spec: { online: false, networkData: { name: DATA } },
    });
    expect(rig.secret(DATA)?.metadata).toMatchObject({
      labels: { [VINO_UID]: OWNER.uid },
      ownerReferences: [{ kind: "BareMetalHost", name: HOST, uid: uidOf(HOST) }],
    });
    const again = await rig.publish({ hosts: [toWanted()] });
    expect([again.states, again.texts, again.requests]).toEqual([[`${HOST} Published`], [], []]);
  });

  test("with a management controller keeps the password in the Secret alone", async () => {
    const report = await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    expect(textsOf(CREDENTIALS)).toEqual({ username: "admin", password: BMC.password });
    expect(rig.host(HOST)).toMatchObject({
      spec: { online: true, bmc: { address: BMC.address, credentialsName: CREDENTIALS } },
    });
    expect(JSON.stringify([report, rig.host(HOST)])).not.toContain(BMC.password);
  });

  test("does not make a host again that the watch does not show yet", async () => {
    await rig.publish({ hosts: [toWanted()] });
    const { signal } = new AbortController();
    const whole = { owner: OWNER, unwanted: [], paused: new Set<string>(), publishesMoved: false };
    rig.kubernetes.requests.clear();
    const { hosts } = await publishEach(rig.publisher, { ...whole, hosts: [toWanted()] }, signal);
    expect(rig.kubernetes.requests.count({ verb: "create" })).toBe(0);
    expect(["Published", "Publishing"]).toContain(hosts[0]?.state ?? "");
  });
});

describe("publish() beside something of the same name", () => {
  test("leaves a host alone that it did not make, and makes no Secret", async () => {
    rig.kubernetes.objects.create("baremetalhosts", {
      metadata: { name: HOST, namespace: OWNER.namespace, labels: { mine: "yes" } },
      spec: { online: true },
    });
    const before = rig.host(HOST);
    const report = await rig.publish({ hosts: [toWanted()], unwanted: [HOST] });
    expect(report.states).toEqual([`${HOST} NameTaken`, `${HOST} Gone`]);
    expect(report.texts).toEqual([`BareMetalHost ${HOST} exists, and was not made for this Vino`]);
    expect([rig.host(HOST), report.requests]).toEqual([before, [`get baremetalhosts/${HOST}`]]);
  });

  test("leaves a host of an earlier Vino of the same name alone", async () => {
    const earlier = toWanted(0, { machineName: "vino-earlier-worker-0" });
    await rig.publishAll({ hosts: [earlier], owner: { ...OWNER, uid: "earlier" } });
    rig.edit(HOST, { metadata: { labels: { [VINO_UID]: "earlier" } } });
    const report = await rig.publish({ hosts: [toWanted()], unwanted: [HOST] });
    expect(report.states).toEqual([`${HOST} NameTaken`, `${HOST} Gone`]);
    expect(report.requests).toEqual([`get baremetalhosts/${HOST}`]);
  });

  test("makes no host if its Secret belongs to something else", async () => {
    const metadata = { name: DATA, namespace: OWNER.namespace };
    rig.kubernetes.objects.create("secrets", { metadata, stringData: { networkData: "theirs" } });
    const report = await rig.publish({ hosts: [toWanted()] });
    expect(report.states).toEqual([`${HOST} NameTaken`]);
    expect(report.texts[0]).toBe(`Secret ${DATA} exists, and was not made for this Vino`);
    expect(rig.host(HOST)).toBeUndefined();
    expect(textsOf(DATA)).toEqual({ networkData: "theirs" });
  });

  test("says that the API server refuses, without a value of the Secret", async () => {
    const owner = { ...OWNER, namespace: "nowhere" };
    const report = await rig.publish({ owner, hosts: [toWanted(0, { bmc: BMC })] });
    expect(report.states).toEqual([`${HOST} Refused`]);
    expect(report.texts[0]).toBe(`Secret ${DATA} is refused: 404 NotFound`);
    expect(report.published.againMs).toBe(60_000);
  });
});

describe("publish() of hosts that exist", () => {
  test("keeps labels true when the machine moves, and leaves labels of people", async () => {
    const source = { nodeLabelKeysToCopy: [RACK], bmhLabels: { tier: "gold" } };
    await rig.publishAll({ hosts: [toWanted(0, {}, source)] });
    rig.edit(HOST, { metadata: { labels: { mine: "yes" } } });
    const moved = { poolId: "p1", hostId: "h2", firstHostId: "h1" };
    const hosts = [toWanted(0, {}, { ...source, machine: moved })];
    const report = await rig.publishAll({ hosts });
    expect(report.states).toEqual([`${HOST} Published`]);
    expect(rig.host(HOST)?.metadata).toMatchObject({
      labels: { mine: "yes", tier: "gold", [RACK]: "r2", "vino.airshipit.org/host": "h2" },
    });
    await rig.publishAll({ hosts: [toWanted(0, {}, { machine: moved })] });
    const labels = rig.host(HOST)?.metadata["labels"];
    expect(Object.keys(labels ?? {}).filter((key) => ["mine", "tier", RACK].includes(key))).toEqual(
      ["mine"],
    );
  });

  test("plans for the host as it is: after a change that it did not see, it tries again", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const hosts = [toWanted(0, {}, { bmhLabels: { tier: "gold" } })];
    rig.edit(HOST, { spec: { description: "changed a moment ago" } });
    const { signal } = new AbortController();
    const whole = { owner: OWNER, unwanted: [], paused: new Set<string>(), publishesMoved: false };
    const { againMs } = await publishEach(rig.publisher, { ...whole, hosts }, signal);
    if (againMs === 1_000) expect(rig.host(HOST)?.metadata["labels"]).not.toHaveProperty("tier");
    await rig.publishAll({ hosts });
    expect(rig.host(HOST)?.metadata["labels"]).toHaveProperty("tier", "gold");
  });

  test("never touches what metal3, Cluster API and people own", async () => {
    await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    const spec = {
      online: false,
      image: { url: "http://example.org/a" },
      userData: { name: "u" },
      consumerRef: { kind: "Metal3Machine", name: "m-1" },
      networkData: { name: "of-capm3" },
      bootMACAddress: "02:00:00:00:00:99",
      rootDeviceHints: { deviceName: "/dev/sda" },
    };
    rig.edit(HOST, { spec });
    await rig.publishAll({
      hosts: [toWanted(0, { bmc: BMC, power: "stopped" }, { bmhLabels: { a: "b" } })],
    });
    expect(rig.host(HOST)).toMatchObject({ spec, metadata: { labels: { a: "b" } } });
  });

  test("gives a host its management controller later, and says then whether it is on", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    expect(rig.host(HOST)).toMatchObject({ spec: { online: false } });
    await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    expect(rig.host(HOST)).toMatchObject({
      spec: { online: true, bmc: { address: BMC.address, credentialsName: CREDENTIALS } },
    });
    expect(textsOf(CREDENTIALS)).toHaveProperty("username", "admin");
  });

  test("makes a host again that a person deleted, and gives it the Secret", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const before = uidOf(HOST);
    rig.remove(HOST);
    await rig.publishAll({ hosts: [toWanted()] });
    expect(uidOf(HOST)).not.toBe(before);
    expect(rig.secret(DATA)?.metadata).toMatchObject({
      ownerReferences: [{ kind: "BareMetalHost", name: HOST, uid: uidOf(HOST) }],
    });
  });

  test("makes a host again if its machine is another one now, unless it is in use", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const before = uidOf(HOST);
    consume(true);
    const hosts = [toWanted(0, { machineId: "vm-new" })];
    expect((await rig.publish({ hosts })).states).toEqual([`${HOST} InUse`]);
    expect(uidOf(HOST)).toBe(before);
    consume(false);
    expect((await rig.publishAll({ hosts })).states).toEqual([`${HOST} Published`]);
    expect(uidOf(HOST)).not.toBe(before);
  });

  test("leaves a label that another program changes again and again", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const key = "vino.airshipit.org/host";
    for (let round = 0; round < 5; round += 1) {
      rig.edit(HOST, { metadata: { labels: { [key]: "elsewhere" } } });
      await rig.publishAll({ hosts: [toWanted()] });
    }
    rig.edit(HOST, { metadata: { labels: { [key]: "elsewhere" } } });
    const report = await rig.publish({ hosts: [toWanted()] });
    expect(report.texts).toEqual([`${HOST}: another program changes its labels again and again`]);
    expect(report.requests).toEqual([]);
    await rig.clock.advance(report.published.againMs);
    await rig.publishAll({ hosts: [toWanted()] });
    expect(rig.host(HOST)?.metadata["labels"]).toHaveProperty([key], "h1");
  });
});

describe("publish() and Secrets", () => {
  test("reads them again after five minutes: what was changed or deleted comes back", async () => {
    const hosts = [toWanted(0, { bmc: BMC })];
    await rig.publishAll({ hosts });
    const path = { namespace: OWNER.namespace };
    const secrets = rig.kubernetes.objects;
    secrets.patch("secrets", { ...path, name: CREDENTIALS }, { data: { password: "eA==" } });
    secrets.delete("secrets", { ...path, name: DATA });
    const early = await rig.publish({ hosts });
    expect([early.requests, early.published.againMs]).toEqual([[], CHECK_MS]);
    await rig.clock.advance(CHECK_MS);
    const { requests } = await rig.publish({ hosts });
    expect(requests).toEqual([
      `get secrets/${DATA}`,
      "create secrets/",
      `get secrets/${CREDENTIALS}`,
      `patch secrets/${CREDENTIALS}`,
    ]);
    expect(textsOf(CREDENTIALS)).toHaveProperty("password", BMC.password);
    expect(textsOf(DATA)).toHaveProperty("networkData");
  });

  test("writes them at once when what is wanted changes", async () => {
    await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    await rig.publishAll({ hosts: [toWanted(0, { bmc: { ...BMC, password: "new" } })] });
    expect(textsOf(CREDENTIALS)).toHaveProperty("password", "new");
  });

  test("only reads them after a restart", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    await rig.restart();
    const report = await rig.publish({ hosts: [toWanted()] });
    expect(report.requests).toEqual([`get secrets/${DATA}`]);
  });

  test("keeps labels and owners that others set", async () => {
    await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u" };
    const path = { namespace: OWNER.namespace, name: CREDENTIALS };
    const owners = [...[rig.secret(CREDENTIALS)?.metadata["ownerReferences"]].flat(), owner];
    rig.kubernetes.objects.patch("secrets", path, {
      metadata: { labels: { "environment.metal3.io": "baremetal" }, ownerReferences: owners },
      data: { password: "eA==" },
    } as never);
    await rig.clock.advance(CHECK_MS);
    await rig.publishAll({ hosts: [toWanted(0, { bmc: BMC })] });
    const { metadata } = rig.secret(CREDENTIALS) ?? {};
    expect(metadata?.["labels"]).toHaveProperty(["environment.metal3.io"], "baremetal");
    expect(metadata?.["ownerReferences"]).toContainEqual(owner);
    expect(textsOf(CREDENTIALS)).toHaveProperty("password", BMC.password);
  });
});

describe("publish() and paused hosts", () => {
  test("changes nothing of a paused host, and does not delete it", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    pause(true);
    const hosts = [toWanted(0, {}, { bmhLabels: { tier: "gold" } })];
    const report = await rig.publish({ hosts });
    expect(report.states).toEqual([`${HOST} Paused`]);
    const unwanted = await rig.publish({ unwanted: [HOST] });
    expect(unwanted.states).toEqual([`${HOST} Paused`]);
    expect([report.requests, unwanted.requests]).toEqual([[], []]);
    pause(false);
    expect((await rig.publishAll({ hosts })).states).toEqual([`${HOST} Published`]);
    expect(rig.host(HOST)?.metadata["labels"]).toHaveProperty("tier", "gold");
  });

  test("knows a move of a host that was not paused before: clusterctl marks what it deletes", async () => {
    const hosts = [toWanted()];
    await rig.publishAll({ hosts });
    const annotations = { "clusterctl.cluster.x-k8s.io/delete-for-move": "" };
    rig.edit(HOST, { metadata: { annotations } });
    rig.remove(HOST);
    expect((await rig.publish({ hosts })).states).toEqual([`${HOST} Moved`]);
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Moved`]);
  });

  test("does not make a host again that was moved to another cluster, also after a restart", async () => {
    const hosts = [toWanted()];
    await rig.publishAll({ hosts });
    pause(true);
    await rig.settle();
    rig.remove(HOST);
    const report = await rig.publish({ hosts });
    expect(report.states).toEqual([`${HOST} Moved`]);
    expect(report.texts[0]).toContain(PUBLISH_AGAIN);
    await rig.restart();
    const paused = new Set([HOST]);
    const later = await rig.publish({ hosts, paused });
    expect(later.states).toEqual([`${HOST} Moved`]);
    const unwanted = await rig.publish({ unwanted: [HOST], paused });
    expect(unwanted.states).toEqual([`${HOST} Moved`]);
    expect([report, later, unwanted].flatMap(({ requests }) => requests)).toEqual([]);
    const given = await rig.publish({ unwanted: [HOST], paused, publishesMoved: true });
    expect(given.states).toEqual([`${HOST} Gone`]);
    const forced = await rig.publish({ hosts, paused, publishesMoved: true });
    expect(forced.states).toEqual([`${HOST} Published`]);
  });
});

describe("publish() of hosts to take back", () => {
  test("deletes a host, and says when it is gone", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const report = await rig.publish({ unwanted: [HOST] });
    expect(report.states).toEqual([`${HOST} Removing`]);
    expect(report.requests).toEqual([`delete baremetalhosts/${HOST}`]);
    const gone = await rig.publish({ unwanted: [HOST] });
    const later = await rig.publish({ unwanted: [HOST] });
    // The first time the API server itself must say so.
    expect([gone.states, gone.requests]).toEqual([
      [`${HOST} Gone`],
      [`get baremetalhosts/${HOST}`],
    ]);
    expect([later.states, later.requests]).toEqual([[`${HOST} Gone`], []]);
  });

  test("believes no proof of its absence after it was made again", async () => {
    await rig.publish({ unwanted: [HOST] });
    await rig.publishAll({ hosts: [toWanted()] });
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
    const { requests } = await rig.publish({ unwanted: [HOST] });
    expect(requests).toEqual([`get baremetalhosts/${HOST}`]);
  });

  test("waits for a host that metal3 still cleans", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    rig.edit(HOST, { metadata: { finalizers: ["baremetalhost.metal3.io"] } });
    await rig.publish({ unwanted: [HOST] });
    const waiting = await rig.publish({ unwanted: [HOST] });
    expect([waiting.states, waiting.requests]).toEqual([[`${HOST} Removing`], []]);
    rig.edit(HOST, { metadata: { finalizers: [] } });
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Gone`]);
  });

  test("keeps a host in use, and names what uses it", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    consume(true);
    const report = await rig.publish({ unwanted: [HOST] });
    expect([report.states, report.requests]).toEqual([[`${HOST} InUse`], []]);
    expect(report.texts).toEqual([
      `BareMetalHost ${HOST} is used by Metal3Machine "m-1": delete its Machine in Cluster API`,
    ]);
    consume(false);
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
  });

  test("deletes no host that was taken a moment ago", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    await rig.settle();
    const whole = { owner: OWNER, hosts: [], paused: new Set<string>(), publishesMoved: false };
    const { signal } = new AbortController();
    // The view does not show this yet: nothing waits in between.
    consume(true);
    const { unwanted } = await publishEach(rig.publisher, { ...whole, unwanted: [HOST] }, signal);
    expect(["Removing", "InUse"]).toContain(unwanted[0]?.state ?? "");
    expect(rig.host(HOST)?.metadata).not.toHaveProperty("deletionTimestamp");
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} InUse`]);
  });
});

describe("the source of a HostPublisher", () => {
  test("names the Vino when something changes that counts, and not for a hardware report", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    await rig.settle();
    rig.woken.length = 0;
    rig.edit(HOST, { metadata: { annotations: { "example.org/note": "x" } } });
    await rig.settle();
    expect(rig.woken).toEqual([]);
    consume(true);
    await rig.settle();
    expect(rig.woken).toEqual(["metal/edge"]);
  });

  test.each([
    ["without a label", {}],
    ["with the label of another Vino", { [VINO_UID]: "another" }],
  ])("names the Vino when a host %s that has a name of its hosts goes", async (_what, labels) => {
    const path = { namespace: "metal", name: HOST };
    rig.kubernetes.objects.create("baremetalhosts", { metadata: { ...path, labels } });
    rig.kubernetes.objects.create("baremetalhosts", {
      metadata: { ...path, name: "another-0", labels },
    });
    await rig.settle();
    rig.woken.length = 0;
    rig.kubernetes.objects.delete("baremetalhosts", { ...path, name: "another-0" });
    await rig.settle();
    expect(rig.woken).toEqual([]);
    rig.kubernetes.objects.delete("baremetalhosts", path);
    await rig.settle();
    expect(rig.woken).toEqual(["metal/edge"]);
  });
});
