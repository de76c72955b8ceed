/**
 * The contract of CloudStack's API, as far as Landfall needs it: the same cases for the double and for a real
 * management server, at the door of both. Each case made by `answers` is what a real 4.23 was seen to do; the
 * rest is as CloudStack's documentation, its source and Landfall's runs on a real 4.23 say.
 * @module
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import {
  listEntries,
  listNames,
  type Answer,
  type Fields,
} from "../support/cloud/cloudstack_asks.ts";
import { openZone, type Done, type Who, type ZoneAskOptions } from "./cloudstack_zone.ts";

const zone = await openZone();
const { ids, place } = zone;
const { timeoutMs } = place;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}, timeoutMs);
afterAll(() => place.stop());

/** A case about one answer, which a real 4.23 was seen to give. */
function answers(title: string, real: object, observe: () => Promise<object>): void {
  holds(title, async () => {
    const seen: object = JSON.parse(JSON.stringify(await observe()));
    expect(seen).toMatchObject(real);
  });
}

/** A case about several answers. */
function holds(title: string, run: () => Promise<void>): void {
  test(title, run, timeoutMs);
}

function later(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

const asUser = (as: Who): ZoneAskOptions => ({ as });

async function must(command: string, fields: Fields, options?: ZoneAskOptions): Promise<Done> {
  const done = await zone.change(command, fields, options);
  expect([command, done.code, done.text]).toEqual([command, 0, ""]);
  return done;
}

async function list(
  command: string,
  key: string,
  fields: Fields = {},
  options?: ZoneAskOptions,
): Promise<Record<string, unknown>[]> {
  const answer = await zone.ask(command, fields, options);
  expect([command, answer.status]).toEqual([command, 200]);
  return listEntries(answer, key);
}

const listVms = (fields: Fields, as: Who = "owner"): Promise<Record<string, unknown>[]> =>
  list("listVirtualMachines", "virtualmachine", fields, { as });
const listRules = (fields: Fields, as: Who = "owner"): Promise<Record<string, unknown>[]> =>
  list("listLoadBalancerRules", "loadbalancerrule", fields, { as });
const listIps = (fields: Fields, as: Who = "owner"): Promise<Record<string, unknown>[]> =>
  list("listPublicIpAddresses", "publicipaddress", fields, { as });
const listItems = (fields: Fields = {}): Promise<Record<string, unknown>[]> =>
  list("listNetworkACLs", "networkacl", { aclid: ids.aclList, listall: "true", ...fields });
const idsOf = (entries: readonly Record<string, unknown>[]): unknown[] =>
  entries.map(({ id }) => id);
const toRefusal = ({ status, key, body }: Answer): unknown[] => [status, key, body["errortext"]];

/** Takes an address for the network or the VPC until the end of the case. Returns its ID. */
async function takeIp(where: "network" | "vpc" = "network"): Promise<string> {
  const { id } = await must("associateIpAddress", { [`${where}id`]: ids[where] });
  later(() => zone.change("disassociateIpAddress", { id }));
  return id;
}

const RULE = { algorithm: "roundrobin", name: "web", privateport: "30080", publicport: "80" };

/** Makes a rule on an address. Returns its ID. */
async function makeRule(publicipid: string, fields: Fields = {}): Promise<string> {
  const all = { ...RULE, openfirewall: "false", protocol: "tcp", publicipid, ...fields };
  return (await must("createLoadBalancerRule", all)).id;
}

const assign = (id: string, ...vmIds: readonly string[]): Promise<Done> =>
  zone.change("assignToLoadBalancerRule", { id, virtualmachineids: vmIds.join(",") });
const listMembers = async (id: string): Promise<unknown[]> =>
  idsOf(await list("listLoadBalancerRuleInstances", "loadbalancerruleinstance", { id }));

describe("a request", () => {
  const UNVERIFIED = "unable to verify user credentials and/or request signature";

  holds("is answered alike by GET and by POST, under one key", async () => {
    for (const method of ["GET", "POST"] as const) {
      const { status, key, body, headers } = await zone.ask(
        "listZones",
        { id: ids.zone },
        { method },
      );
      expect([status, key, body["count"]]).toEqual([200, "listzonesresponse", 1]);
      expect(headers.get("content-type")).toMatch(/^(application\/json|text\/javascript)/);
    }
  });

  holds("may have every kind of character in a value", async () => {
    const fields = { name: "ü 1*~(x)!'/:@+&=%,;\"ß" };
    for (const method of ["GET", "POST"] as const) {
      const { status, body } = await zone.ask("listVirtualMachines", fields, { method });
      expect([status, body]).toEqual([200, {}]);
    }
    expect((await zone.ask("listVirtualMachines", { name: "a\u0007" })).status).toBe(431);
    expect((await zone.ask("listVirtualMachines", { name: "a\nb" })).status).toBe(200);
  });

  holds("with a wrong signature or key is refused, and is not told which", async () => {
    const expected = [401, "listzonesresponse", UNVERIFIED];
    const options = { unsigned: { name: "x" } };
    const wrong = await zone.ask("listZones", {}, options);
    expect(toRefusal(wrong)).toEqual(expected);
    expect(wrong.body).not.toHaveProperty("cserrorcode");
    expect(toRefusal(await zone.ask("listZones", { apikey: "other" }))).toEqual(expected);
    const unsigned = await fetch(`${place.url}?command=listZones&response=json`);
    expect(unsigned.status).toBe(401);
  });

  holds("for a command that does not exist is refused alike, under another key", async () => {
    const expected = [401, "errorresponse", UNVERIFIED];
    for (const command of ["nonsense", "listzones"]) {
      expect(toRefusal(await zone.ask(command))).toEqual(expected);
    }
  });

  holds("is good until it expires, if it says version 3", async () => {
    const at = (ms: number): ZoneAskOptions => ({ expiresMs: place.now() + ms });
    expect((await zone.ask("listZones", {}, at(600_000))).status).toBe(200);
    expect(toRefusal(await zone.ask("listZones", {}, at(-1_000)))).toEqual([
      401,
      "listzonesresponse",
      UNVERIFIED,
    ]);
    const past = { expires: "2020-01-01T00:00:00+0000" };
    expect((await zone.ask("listZones", past)).status).toBe(200);
    const asked = { signatureversion: "3" };
    expect((await zone.ask("listZones", { ...asked, ...past })).status).toBe(401);
    const future = { ...asked, expires: "2099-01-01T00:00:00Z" };
    expect((await zone.ask("listZones", future)).status).toBe(200);
  });

  answers("an answer has no date", { date: null }, async () => {
    const { headers } = await zone.ask("listZones");
    return { date: headers.get("date") };
  });

  answers("an answer is compressed if the client takes that", { encoding: "gzip" }, async () => {
    // The client of the test asks for gzip and unpacks it.
    const response = await zone.send("listVirtualMachines", { listall: "true" });
    return { encoding: response.headers.get("content-encoding") };
  });

  holds(
    "that lacks a parameter, or names nothing, is refused with the server's words",
    async () => {
      const missing = await zone.ask("queryAsyncJobResult");
      expect(missing.status).toBe(431);
      expect(missing.body["errortext"]).toContain("due to missing parameter jobid");
      const id = randomUUID();
      const unknown = await zone.ask("listVirtualMachines", { id });
      expect([unknown.status, unknown.key, unknown.body["cserrorcode"]]).toEqual([
        431,
        "listvirtualmachinesresponse",
        9999,
      ]);
      expect(unknown.body["errortext"]).toContain(
        "Unable to execute API command listvirtualmachines due to invalid value. " +
          `Invalid parameter id value=${id} due to incorrect long value format, or entity does not exist`,
      );
    },
  );
});

describe("lists", () => {
  const inNetwork = { networkid: ids.network, listall: "true" };

  holds("are empty objects without entries, and have a count otherwise", async () => {
    expect((await zone.ask("listVirtualMachines", { name: "none" })).body).toEqual({});
    const { body } = await zone.ask("listVirtualMachines", inNetwork);
    expect(body["count"]).toBe(listEntries({ body }, "virtualmachine").length);
  });

  holds(
    "come in pages, with the whole count, which is all that is beyond the last one",
    async () => {
      const all = await listVms(inNetwork);
      const page = async (number: number, size: number) =>
        zone.ask("listVirtualMachines", {
          ...inNetwork,
          page: String(number),
          pagesize: String(size),
        });
      const first = await page(1, 1);
      const second = await page(2, 1);
      const names = [...listNames(first, "virtualmachine"), ...listNames(second, "virtualmachine")];
      expect(names).toEqual(all.slice(0, 2).map(({ name }) => name));
      expect([first.body["count"], second.body["count"]]).toEqual([all.length, all.length]);
      expect((await page(999, 1)).body).toEqual({ count: all.length });
      const tooLarge = await page(1, 501);
      expect(tooLarge.status).toBe(431);
      expect(tooLarge.body["errortext"]).toContain("max allowed page size value");
    },
  );

  holds("of machines go by ID, by IDs, by the whole name and by a part of it", async () => {
    const [one, two] = ids.vms;
    const [vm] = await listVms({ id: one });
    const name = String(vm?.["name"]);
    expect(idsOf(await listVms({ id: one.toUpperCase() }))).toEqual([one]);
    expect(idsOf(await listVms({ ids: `${one},${two}` })).toSorted()).toEqual(
      [one, two].toSorted(),
    );
    expect((await zone.ask("listVirtualMachines", { id: one, ids: two })).status).toBe(431);
    expect(await listVms({ id: "", ...inNetwork })).toEqual(await listVms(inNetwork));
    expect(idsOf(await listVms({ name: name.toUpperCase() }))).toEqual([one]);
    expect(await listVms({ name: name.slice(0, -1) })).toEqual([]);
    expect(idsOf(await listVms({ keyword: name.slice(1), ...inNetwork }))).toContain(one);
    expect(idsOf(await listVms({ state: "Running", ...inNetwork }))).toContain(one);
    expect(await listVms({ state: "Stopped", ...inNetwork })).toEqual([]);
  });

  holds("of machines show what is asked for, and to administrators where they run", async () => {
    const [id] = ids.vms;
    const [vm] = await listVms({ id, details: "min,nics,servoff" });
    const text = expect.any(String);
    const number = expect.any(Number);
    expect(vm).toMatchObject({
      id,
      name: text,
      displayname: text,
      account: place.names.owner,
      domain: text,
      domainid: text,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}$/),
      state: "Running",
      zoneid: ids.zone,
      zonename: text,
      serviceofferingid: text,
      serviceofferingname: text,
      cpunumber: number,
      memory: number,
      displayvm: true,
      tags: [],
      nic: [
        {
          id: text,
          networkid: ids.network,
          networkname: text,
          ipaddress: text,
          netmask: text,
          gateway: text,
          macaddress: text,
          type: "Isolated",
          traffictype: "Guest",
          isdefault: true,
          secondaryip: [],
        },
      ],
    });
    for (const field of ["hostname", "instancename"]) expect(vm).not.toHaveProperty(field);
    const [minimal] = await listVms({ id, details: "min" });
    expect(minimal).toMatchObject({ id, state: "Running" });
    for (const field of ["nic", "serviceofferingname"]) expect(minimal).not.toHaveProperty(field);
    const [seenByRoot] = await listVms({ id, details: "min" }, "root");
    expect(seenByRoot).toMatchObject({ hostname: text, instancename: text });
    const wrong = await zone.ask("listVirtualMachines", { details: "min,nic" });
    expect([wrong.status, wrong.body["errortext"]]).toEqual([
      431,
      expect.stringContaining("non permitted value"),
    ]);
  });

  holds("show objects of others to administrators alone", async () => {
    const [id] = ids.vms;
    expect((await zone.ask("listVirtualMachines", { id }, asUser("other"))).body).toEqual({});
    expect(await listVms(inNetwork).then(idsOf)).toContain(id);
    for (const as of ["root", "domainAdmin"] as const) {
      expect(idsOf(await listVms({ id }, as))).toEqual([id]);
      expect(idsOf(await listVms({ listall: "true" }, as))).toContain(id);
      expect(idsOf(await listVms({}, as))).not.toContain(id);
    }
  });

  holds("show objects of a project by the project alone", async () => {
    const [id] = ids.vms;
    expect(await listVms({ projectid: ids.project })).toEqual([]);
    expect(await listVms({ projectid: "-1", id })).toEqual([]);
    expect(idsOf(await listVms({ projectid: "-1", listall: "true" }))).toContain(id);
    expect(await list("listProjects", "project", { id: ids.project })).toMatchObject([
      { id: ids.project, name: expect.any(String), state: "Active" },
    ]);
    expect((await zone.ask("listVirtualMachines", { projectid: randomUUID() })).status).toBe(431);
  });

  answers(
    "a project is no business of an account that is no member",
    {
      status: 432,
      key: "errorresponse",
      body: {
        errortext:
          "The API [listVirtualMachines] does not exist or is not available for this account/user " +
          `in project [${ids.project}].`,
      },
    },
    () => zone.ask("listVirtualMachines", { projectid: ids.project }, asUser("other")),
  );

  holds("say where machines are, and what networks offer", async () => {
    const [place1] = await list("listZones", "zone", { id: ids.zone });
    expect(place1).toMatchObject({ id: ids.zone, networktype: "Advanced" });
    expect(await list("listZones", "zone", { name: String(place1?.["name"]) })).toHaveLength(1);
    const [network] = await list("listNetworks", "network", { id: ids.network, listall: "true" });
    expect(network).toMatchObject({
      id: ids.network,
      type: "Isolated",
      zoneid: ids.zone,
      state: "Implemented",
      networkofferingconservemode: true,
    });
    expect(network).not.toHaveProperty("vpcid");
    const services = listEntries({ body: network ?? {} }, "service");
    expect(services.map(({ name }) => name)).toEqual(expect.arrayContaining(["Lb", "Firewall"]));
    const lb = services.find(({ name }) => name === "Lb") ?? {};
    const capabilities = new Map(
      listEntries({ body: lb }, "capability").map(({ name, value }) => [name, String(value)]),
    );
    expect(capabilities.get("SupportedLbAlgorithms")).toBe("roundrobin,leastconn,source");
    const methods = String(capabilities.get("SupportedStickinessMethods"));
    expect(JSON.parse(methods)).toContainEqual(
      expect.objectContaining({
        methodname: "SourceBased",
        paramlist: expect.arrayContaining([
          expect.objectContaining({ paramname: "tablesize", isflag: false }),
        ]),
      }),
    );
    const [tier] = await list("listNetworks", "network", { id: ids.tier });
    expect(tier).toMatchObject({ vpcid: ids.vpc, aclid: ids.aclList });
    const tierServices = listEntries({ body: tier ?? {} }, "service").map(({ name }) => name);
    expect(tierServices).toContain("NetworkACL");
  });

  holds("say what the server is, what a user may do, and no secret", async () => {
    const { body } = await zone.ask("listCapabilities");
    expect(body["capability"]).toMatchObject({
      cloudstackversion: expect.stringMatching(/^\d+\.\d+\.\d+/),
      allowuserviewdestroyedvm: false,
    });
    const apis = await list("listApis", "api", { name: "listZones" });
    expect(apis).toMatchObject([{ name: "listZones" }]);
    const users = await zone.ask("listUsers");
    expect(listEntries(users, "user")).toMatchObject([{ account: place.names.owner }]);
    expect(JSON.stringify(users.body)).not.toContain(place.users.owner.secretKey);
  });
});

describe("roles", () => {
  holds("let an account do what their rules allow, and nothing else", async () => {
    const root = asUser("root");
    const name = `contract-${randomUUID().slice(0, 8)}`;
    const role = await zone.ask("createRole", { name, type: "User" }, root);
    const roleid = idOf(role.body["role"]);
    later(() => zone.change("deleteRole", { id: roleid }, root));
    for (const [rule, permission] of [
      ["listVirtualMachines", "allow"],
      ["listApis", "allow"],
      ["*", "deny"],
    ] as const) {
      await must("createRolePermission", { roleid, rule, permission }, root);
    }
    const person = {
      password: "Passw0rd!x",
      email: "a@example.org",
      firstname: "A",
      lastname: "B",
    };
    const made = await zone.ask("createAccount", { username: name, roleid, ...person }, root);
    const account = made.body["account"];
    later(() => zone.change("deleteAccount", { id: idOf(account) }, root));
    expect(account).toMatchObject({ name, user: [{ username: name }] });
    const [user] = listEntries({ body: { ...(account as object) } }, "user");
    const { result } = await must("registerUserKeys", { id: String(user?.["id"]) }, root);
    const keys = result["userkeys"] as Record<"apikey" | "secretkey", string>;
    const as = { apiKey: keys.apikey, secretKey: keys.secretkey };
    expect((await zone.ask("listVirtualMachines", {}, { as })).body).toEqual({});
    const expected = [
      432,
      "errorresponse",
      `The API [listZones] does not exist or is not available for the account ${name}.`,
    ];
    expect(toRefusal(await zone.ask("listZones", {}, { as }))).toEqual(expected);
    const about = await zone.ask("listApis", { name: "listVirtualMachines" }, { as });
    expect(about.body["count"]).toBe(1);
    expect((await zone.ask("listApis", { name: "listZones" }, { as })).status).not.toBe(200);
    const all = listNames(await zone.ask("listApis", {}, { as }), "api");
    expect([all.includes("listVirtualMachines"), all.includes("listZones")]).toEqual([true, false]);
    // The server asks about the role before it looks at the signature.
    const unsigned = { name: "x" };
    expect(toRefusal(await zone.ask("listZones", {}, { as, unsigned }))).toEqual(expected);
  });

  holds("of plain users make no roles", async () => {
    expect((await zone.ask("createRole", { name: "x", type: "User" })).status).toBe(432);
  });
});

function idOf(object: unknown): string {
  const isNamed = typeof object === "object" && object !== null && "id" in object;
  return isNamed ? String(object.id) : "";
}

describe("machines and jobs", () => {
  holds("a job is pending without a result, and ends with the object as it is then", async () => {
    const id = await place.makeVm(zone);
    later(() => zone.change("destroyVirtualMachine", { id, expunge: "true" }, asUser("root")));
    const { status, body } = await zone.ask("stopVirtualMachine", { id }, { method: "POST" });
    expect([status, body]).toEqual([200, { jobid: expect.any(String) }]);
    const jobid = String(body["jobid"]);
    const running = await zone.ask("queryAsyncJobResult", { jobid });
    expect(running.body).toMatchObject({
      jobid,
      jobstatus: 0,
      jobresultcode: 0,
      jobinstancetype: "VirtualMachine",
      jobinstanceid: id,
      cmd: "org.apache.cloudstack.api.command.user.vm.StopVMCmd",
      created: expect.stringMatching(/[+-]\d{4}$/),
      userid: expect.any(String),
      accountid: expect.any(String),
    });
    for (const field of ["jobresult", "completed"]) expect(running.body).not.toHaveProperty(field);
    const listed = await list("listAsyncJobs", "asyncjobs");
    expect(listed).toContainEqual(expect.objectContaining({ jobid, jobstatus: 0 }));
    const others = await list("listAsyncJobs", "asyncjobs", { listall: "true" }, asUser("other"));
    expect(others.map((job) => job["jobid"])).not.toContain(jobid);
    expect((await zone.ask("queryAsyncJobResult", { jobid }, asUser("other"))).status).toBe(531);
    expect(await zone.end(jobid)).toMatchObject({
      jobid,
      jobstatus: 1,
      jobresultcode: 0,
      jobresulttype: "object",
      jobresult: { virtualmachine: { id, state: "Stopped" } },
    });
    expect(await listVms({ id })).toMatchObject([{ state: "Stopped" }]);
    await must("startVirtualMachine", { id });
    expect(await listVms({ id })).toMatchObject([{ state: "Running" }]);
  });

  answers("listAsyncJobs lists jobs that have not ended, and no others", { ended: 0 }, async () => {
    const { body } = await zone.ask("associateIpAddress", { networkid: ids.network });
    later(() => zone.change("disassociateIpAddress", { id: String(body["id"]) }));
    const jobid = String(body["jobid"]);
    await zone.end(jobid);
    const jobs = await list("listAsyncJobs", "asyncjobs");
    return { ended: jobs.filter((job) => job["jobid"] === jobid).length };
  });

  holds("a job that fails has a code and a text, and HTTP says 200", async () => {
    const fields = { resourceids: ids.vms[0], resourcetype: "UserVm", "tags[0].key": "contract" };
    const add = { ...fields, "tags[0].value": "1" };
    await must("createTags", add);
    later(() => zone.change("deleteTags", fields));
    const { status, body } = await zone.ask("createTags", add, { method: "POST" });
    expect(status).toBe(200);
    expect(await zone.end(String(body["jobid"]))).toMatchObject({
      jobstatus: 2,
      jobresultcode: 530,
      jobresulttype: "object",
      jobresult: { errorcode: 530, errortext: expect.any(String) },
    });
    expect((await zone.ask("queryAsyncJobResult", { jobid: randomUUID() })).status).toBe(431);
  });

  holds("a machine that was expunged is an empty list by its ID, for everybody", async () => {
    const id = await place.makeVm(zone);
    const refused = await zone.change("destroyVirtualMachine", { id, expunge: "true" });
    expect(refused.code).toBe(531);
    await must("destroyVirtualMachine", { id, expunge: "true" }, asUser("root"));
    for (const as of ["owner", "other", "domainAdmin", "root"] as const) {
      const { status, body } = await zone.ask("listVirtualMachines", { id }, { as });
      expect([as, status, body]).toEqual([as, 200, {}]);
    }
    expect((await zone.change("startVirtualMachine", { id })).code).toBe(431);
  });

  holds("a machine that is destroyed shows to administrators alone", async () => {
    const id = await place.makeVm(zone);
    later(() => zone.change("destroyVirtualMachine", { id, expunge: "true" }, asUser("root")));
    await must("destroyVirtualMachine", { id });
    expect((await zone.ask("listVirtualMachines", { id })).body).toEqual({});
    expect(await listVms({ id }, "root")).toMatchObject([{ state: "Destroyed" }]);
  });

  answers(
    "a machine that is hidden shows to no one, by its ID neither",
    { owner: 0, root: 0 },
    async () => {
      const [id] = ids.vms;
      await place.hide(zone, id, true);
      later(() => place.hide(zone, id, false));
      return {
        owner: (await listVms({ id })).length,
        root: (await listVms({ id }, "root")).length,
      };
    },
  );

  holds("a machine of another account is not to be changed", async () => {
    const [id] = ids.vms;
    expect((await zone.change("stopVirtualMachine", { id }, asUser("other"))).code).toBe(531);
    expect((await zone.change("stopVirtualMachine", { id: randomUUID() })).code).toBe(431);
  });
});

describe("public addresses", () => {
  const associate = (fields: Fields, as: Who = "owner"): Promise<Done> =>
    zone.change("associateIpAddress", fields, { as });

  holds("are taken at once, lead to the network with the job, and are found", async () => {
    const fields = { networkid: ids.network };
    const { body } = await zone.ask("associateIpAddress", fields, { method: "POST" });
    const { id, jobid } = body;
    expect(body).toEqual({ id: expect.any(String), jobid: expect.any(String) });
    later(() => zone.change("disassociateIpAddress", { id: String(id) }));
    const job = await zone.end(String(jobid));
    expect(job).toMatchObject({ jobinstancetype: "IpAddress", jobresult: { ipaddress: { id } } });
    const [ip] = await listIps({ id: String(id) });
    const found = [
      { ipaddress: String(ip?.["ipaddress"]) },
      { associatednetworkid: ids.network, issourcenat: "false" },
    ];
    expect(ip).toMatchObject({
      id,
      ipaddress: expect.stringMatching(/^[\d.]+$/),
      allocated: expect.any(String),
      state: "Allocated",
      zoneid: ids.zone,
      account: place.names.owner,
      associatednetworkid: ids.network,
      issourcenat: false,
      isstaticnat: false,
      hasrules: false,
      tags: [],
    });
    expect(ip).not.toHaveProperty("vpcid");
    for (const one of found) expect(idsOf(await listIps(one))).toContain(id);
    expect(idsOf(await listIps({ issourcenat: "true" }))).not.toContain(id);
    expect(
      (await zone.ask("listPublicIpAddresses", { id: String(id) }, asUser("other"))).body,
    ).toEqual({});
  });

  holds("that are free show only if they are asked for, without an owner", async () => {
    expect(idsOf(await listIps({ state: "Free" })).length).toBeGreaterThan(0);
    const all = await listIps({ allocatedonly: "false", listall: "true" });
    const free = all.find((ip) => ip["state"] === "Free");
    for (const field of ["allocated", "account", "associatednetworkid"]) {
      expect(free).not.toHaveProperty(field);
    }
    expect(idsOf(await listIps({ listall: "true" }))).not.toContain(free?.["id"]);
  });

  holds("are taken by name while they are free, and no others of that name", async () => {
    const id = await takeIp();
    const [ip] = await listIps({ id });
    for (const ipaddress of [String(ip?.["ipaddress"]), "203.0.113.99"]) {
      const fields = { networkid: ids.network, ipaddress };
      const { status, body } = await zone.ask("associateIpAddress", fields, { method: "POST" });
      expect([status, body["cserrorcode"], body["errortext"]]).toEqual([
        533,
        9999,
        "Insufficient address capacity",
      ]);
    }
  });

  answers(
    "an account over its limit gets no address",
    {
      status: 532,
      body: {
        errorcode: 532,
        cserrorcode: 4280,
        errortext: `Maximum number of public IP addresses for account: ${place.names.owner} has been exceeded.`,
      },
    },
    async () => {
      const { length } = await listIps({ listall: "true" });
      await place.limitAddresses(zone, length);
      later(() => place.limitAddresses(zone));
      return zone.ask("associateIpAddress", { networkid: ids.network }, { method: "POST" });
    },
  );

  holds("of a VPC lead to no tier before they have a rule", async () => {
    const id = await takeIp("vpc");
    const [ip] = await listIps({ id });
    expect(ip).toMatchObject({ vpcid: ids.vpc, state: "Allocated" });
    expect(ip).not.toHaveProperty("associatednetworkid");
    expect(idsOf(await listIps({ vpcid: ids.vpc }))).toContain(id);
    expect((await associate({ networkid: ids.tier })).code).toBe(431);
  });

  holds(
    "for nothing, for what is not there and for what is another account's are refused",
    async () => {
      expect((await associate({})).code).toBe(431);
      expect((await associate({ vpcid: randomUUID() })).code).toBe(431);
      expect((await associate({ networkid: ids.network }, "other")).code).toBe(531);
    },
  );

  holds("go with their rules and tags; one of another account and a source NAT stay", async () => {
    const id = await takeIp();
    const lbruleid = await makeRule(id);
    const firewall = { ipaddressid: id, protocol: "tcp", startport: "22", endport: "22" };
    await must("createFirewallRule", firewall);
    const tag = { "tags[0].key": "contract", "tags[0].value": "1" };
    await must("createTags", { resourceids: id, resourcetype: "PublicIpAddress", ...tag });
    expect(await listIps({ id })).toMatchObject([{ hasrules: true }]);
    expect((await zone.change("disassociateIpAddress", { id }, asUser("other"))).code).toBe(531);
    await must("disassociateIpAddress", { id });
    expect((await zone.ask("listLoadBalancerRules", { id: lbruleid })).status).toBe(431);
    expect(await listIps({ listall: "true", ...tag })).toEqual([]);
    const [nat] = await listIps({ associatednetworkid: ids.network, issourcenat: "true" });
    expect((await zone.change("disassociateIpAddress", { id: String(nat?.["id"]) })).code).toBe(
      530,
    );
    expect(await listIps({ id: String(nat?.["id"]) })).toMatchObject([{ state: "Allocated" }]);
  });

  answers(
    "an address that is free cannot be given back again",
    {
      code: 530,
      text: "Internal error executing command, please contact your system administrator",
    },
    async () => {
      const id = await takeIp();
      await must("disassociateIpAddress", { id });
      return zone.change("disassociateIpAddress", { id });
    },
  );

  holds("with a port forwarding have no load balancer on that port, and the reverse", async () => {
    const ipaddressid = await takeIp();
    const forwarding = { ipaddressid, virtualmachineid: ids.vms[0], protocol: "tcp" };
    const ports = { publicport: "2222", privateport: "22", openfirewall: "false" };
    const { id } = await must("createPortForwardingRule", { ...forwarding, ...ports });
    const forwardings = await list("listPortForwardingRules", "portforwardingrule", {
      ipaddressid,
    });
    expect(forwardings).toMatchObject([{ id, publicport: "2222", privateport: "22" }]);
    const taken = { ...RULE, publicipid: ipaddressid, publicport: "2222", openfirewall: "false" };
    expect((await zone.change("createLoadBalancerRule", taken)).code).toBe(537);
    await makeRule(ipaddressid);
    const other = { ...forwarding, ...ports, publicport: "80" };
    expect((await zone.change("createPortForwardingRule", other)).code).toBe(537);
    await must("deletePortForwardingRule", { id });
    await makeRule(ipaddressid, { publicport: "2222" });
  });

  holds("that lead to a machine alone have no load balancer", async () => {
    const publicipid = await takeIp();
    await place.bindIp(zone, publicipid, ids.vms[0]);
    const fields = { ...RULE, publicipid, openfirewall: "false" };
    expect((await zone.change("createLoadBalancerRule", fields)).code).toBe(537);
  });

  holds("of a VPC have port forwardings or load balancers", async () => {
    const ipaddressid = await takeIp("vpc");
    const tier = { networkid: ids.tier, virtualmachineid: ids.tierVm };
    const ports = { protocol: "tcp", publicport: "2222", privateport: "22" };
    await must("createPortForwardingRule", { ipaddressid, ...tier, ...ports });
    const fields = { ...RULE, publicipid: ipaddressid, networkid: ids.tier, openfirewall: "false" };
    expect((await zone.change("createLoadBalancerRule", fields)).code).toBe(530);
  });

  holds("that are the source NAT answer DNS, and have no load balancer on that port", async () => {
    const [nat] = await listIps({ associatednetworkid: ids.network, issourcenat: "true" });
    const ports = { openfirewall: "false", publicport: "53" };
    const fields = { ...RULE, ...ports, publicipid: String(nat?.["id"]) };
    expect((await zone.change("createLoadBalancerRule", fields)).code).toBe(431);
    await makeRule(await takeIp(), ports);
  });
});

describe("load-balancer rules", () => {
  const create = (fields: Fields, as: Who = "owner"): Promise<Done> =>
    zone.change("createLoadBalancerRule", { ...RULE, openfirewall: "false", ...fields }, { as });

  holds("are made without members, have ports as text, and are found", async () => {
    const publicipid = await takeIp();
    const cidrlist = "10.0.0.0/8,192.0.2.0/24";
    const fields = { publicipid, protocol: "tcp", description: "of team/web", cidrlist };
    const { id, result } = await create(fields);
    expect(result["loadbalancer"]).toMatchObject({
      id,
      name: "web",
      description: "of team/web",
      publicipid,
      publicip: expect.any(String),
      publicport: "80",
      privateport: "30080",
      algorithm: "roundrobin",
      protocol: "tcp",
      // With blanks, whatever the request had.
      cidrlist: "10.0.0.0/8 192.0.2.0/24",
      state: "Add",
      account: place.names.owner,
      networkid: ids.network,
    });
    const found: Fields[] = [
      { id },
      { publicipid },
      { name: "web", publicipid },
      { keyword: "EB", publicipid },
      { keyword: "team/w", publicipid },
      { networkid: ids.network, publicipid },
    ];
    for (const one of found) expect([one, idsOf(await listRules(one))]).toEqual([one, [id]]);
    expect(await listRules({ name: "we" })).toEqual([]);
    expect(await listRules({ virtualmachineid: ids.vms[0], publicipid })).toEqual([]);
    expect(await listRules({ publicipid }, "root")).toHaveLength(0);
    expect(idsOf(await listRules({ publicipid, listall: "true" }, "root"))).toEqual([id]);
    expect(await listRules({ listall: "true" }, "other")).toEqual([]);
  });

  holds("do not share a port of an address, whatever the protocol", async () => {
    const publicipid = await takeIp();
    await makeRule(publicipid);
    const done = await create({ publicipid, protocol: "tcp-proxy", name: "other" });
    expect([done.code, done.text]).toEqual([
      537,
      expect.stringMatching(/^The range specified, 80-80, conflicts with rule \d+ which has 80-80/),
    ]);
    await makeRule(publicipid, { publicport: "81", name: "other" });
  });

  holds("are refused at once for what the router cannot do", async () => {
    const publicipid = await takeIp();
    for (const fields of [{ protocol: "udp" }, { publicport: "8081" }]) {
      const all = { ...RULE, publicipid, openfirewall: "false", ...fields };
      const { status, body } = await zone.ask("createLoadBalancerRule", all, { method: "POST" });
      expect([fields, status, body["cserrorcode"]]).toEqual([fields, 431, 9999]);
    }
    const refused: Fields[] = [
      { publicport: "65536" },
      { privateport: "0" },
      { algorithm: "random" },
      { cidrlist: "10.0.0.0/8,any" },
      { name: "" },
    ];
    for (const fields of refused) {
      expect([fields, (await create({ publicipid, ...fields })).code]).toEqual([fields, 431]);
    }
    expect((await create({ publicipid }, "other")).code).toBe(531);
    expect(await listRules({ publicipid })).toEqual([]);
  });

  holds("get and lose members, and are in force with the first one", async () => {
    const id = await makeRule(await takeIp());
    const [one, two] = ids.vms;
    expect((await assign(id, one, two)).result).toEqual({ success: true });
    expect(await listRules({ id })).toMatchObject([{ state: "Active" }]);
    expect((await listMembers(id)).toSorted()).toEqual([one, two].toSorted());
    expect(idsOf(await listRules({ virtualmachineid: one }))).toEqual([id]);
    const remove = (...vmIds: readonly string[]): Promise<Done> =>
      must("removeFromLoadBalancerRule", { id, virtualmachineids: vmIds.join(",") });
    await remove(one);
    // A machine that is no member is no error.
    await remove(one, two);
    expect([await listMembers(id), (await listRules({ id }))[0]?.["state"]]).toEqual([[], "Add"]);
    expect((await assign(id, randomUUID())).code).toBe(431);
    const other = { id, virtualmachineids: one };
    const refused = await zone.change("assignToLoadBalancerRule", other, asUser("other"));
    expect(refused.code).toBe(531);
  });

  const REFUSED = {
    code: 530,
    text: expect.stringMatching(/^Failed to assign load balancer rule due to: /),
    members: 0,
  };
  /** Assigns a good machine beside another one. */
  async function tryToAssign(
    vmId: string,
  ): Promise<{ code: number; text: string; members: number }> {
    const id = await makeRule(await takeIp());
    const { code, text } = await assign(id, ids.vms[0], vmId);
    return { code, text, members: (await listMembers(id)).length };
  }

  answers(
    "a member that is one already fails the whole assignment",
    { ...REFUSED, members: 1 },
    async () => {
      const id = await makeRule(await takeIp());
      await assign(id, ids.vms[0]);
      const { code, text } = await assign(id, ids.vms[1], ids.vms[0]);
      return { code, text, members: (await listMembers(id)).length };
    },
  );

  answers("a machine that was expunged fails the whole assignment", REFUSED, async () => {
    const id = await place.makeVm(zone);
    await must("destroyVirtualMachine", { id, expunge: "true" }, asUser("root"));
    return tryToAssign(id);
  });

  holds("have no members of another account", async () => {
    const id = await place.makeVm(zone);
    later(() => zone.change("destroyVirtualMachine", { id, expunge: "true" }, asUser("root")));
    await place.giveVm(zone, id);
    const { code, members } = await tryToAssign(id);
    expect([code === 0, members]).toEqual([false, 0]);
  });

  answers("a machine of another network fails the whole assignment", REFUSED, () =>
    tryToAssign(ids.tierVm),
  );

  holds("are changed in their job, and keep what is refused or not named", async () => {
    const id = await makeRule(await takeIp(), { cidrlist: "10.0.0.0/8" });
    const update = (fields: Fields): Promise<Done> =>
      zone.change("updateLoadBalancerRule", { id, ...fields });
    const cidrlist = "10.0.0.0/8,192.0.2.0/24";
    const { result } = await update({ algorithm: "source", name: "new", cidrlist });
    // With commas now: another form than the one of a new rule.
    const expected = { id, name: "new", algorithm: "source", publicport: "80", cidrlist };
    expect(result["loadbalancer"]).toMatchObject(expected);
    for (const fields of [{ algorithm: "random" }, { cidrlist: "any" }, { protocol: "udp" }]) {
      expect([fields, (await update(fields)).code]).toEqual([fields, 431]);
    }
    expect(await listRules({ id })).toMatchObject([expected]);
    expect((await zone.change("updateLoadBalancerRule", { id: randomUUID() })).code).toBe(431);
  });

  holds("bind an address of a VPC to their tier, and the last one unbinds it", async () => {
    const publicipid = await takeIp("vpc");
    const networkid = ids.tier;
    const networkOf = async (): Promise<unknown> =>
      (await listIps({ id: publicipid }))[0]?.["associatednetworkid"];
    expect((await create({ publicipid })).code).toBe(431);
    const open = { publicipid, networkid, openfirewall: "true" };
    expect((await create(open)).code).toBe(431);
    const first = await makeRule(publicipid, { networkid });
    const second = await makeRule(publicipid, { networkid, publicport: "81" });
    expect(await networkOf()).toBe(networkid);
    await must("deleteLoadBalancerRule", { id: first });
    expect(await networkOf()).toBe(networkid);
    await must("deleteLoadBalancerRule", { id: second });
    expect(await networkOf()).toBeUndefined();
    expect((await zone.change("deleteLoadBalancerRule", { id: first })).code).toBe(431);
  });

  holds("open the firewall to everybody if they are not told otherwise", async () => {
    const publicipid = await takeIp();
    const id = await makeRule(publicipid, { openfirewall: "" });
    const listFirewall = (): Promise<Record<string, unknown>[]> =>
      list("listFirewallRules", "firewallrule", { ipaddressid: publicipid });
    expect(await listFirewall()).toMatchObject([
      { protocol: "tcp", startport: 80, endport: 80, cidrlist: "0.0.0.0/0" },
    ]);
    await must("deleteLoadBalancerRule", { id });
    expect(await listFirewall()).toEqual([]);
  });
});

describe("firewall rules", () => {
  holds("have ports as numbers, and conflict if they share a port and a source", async () => {
    const ipaddressid = await takeIp();
    const create = (fields: Fields, as: Who = "owner"): Promise<Done> => {
      const all = { ipaddressid, protocol: "tcp", startport: "80", endport: "80", ...fields };
      return zone.change("createFirewallRule", all, { as });
    };
    const sources = "10.0.0.0/8,192.0.2.0/24";
    const { id, result } = await create({ cidrlist: sources });
    expect(result["firewallrule"]).toMatchObject({
      id,
      ipaddressid,
      networkid: ids.network,
      protocol: "tcp",
      startport: 80,
      endport: 80,
      cidrlist: sources,
      state: "Active",
    });
    const ranges = { startport: "1", endport: "100" };
    for (const fields of [{ cidrlist: "10.0.0.0/8" }, { cidrlist: "192.0.2.0/24", ...ranges }]) {
      expect([fields, (await create(fields)).code]).toEqual([fields, 537]);
    }
    const beside: Fields[] = [{ protocol: "udp" }, { startport: "81", endport: "81" }];
    for (const fields of [...beside, { cidrlist: "0.0.0.0/0" }]) {
      expect([fields, (await create(fields)).code]).toEqual([fields, 0]);
    }
    const wrong: Fields[] = [{ startport: "90", endport: "89" }, { cidrlist: "10.0.0.0" }];
    for (const fields of [...wrong, { startport: "0", endport: "0" }]) {
      expect([fields, (await create(fields)).code]).toEqual([fields, 431]);
    }
    const ping = { protocol: "icmp", startport: "", endport: "", icmptype: "8", icmpcode: "0" };
    for (const [fields, code] of [
      [{ protocol: "icmp" }, 431],
      [{ icmptype: "8", icmpcode: "0" }, 431],
      [ping, 0],
      // Not 537, as for ports.
      [ping, 431],
      [{ ...ping, icmptype: "0" }, 0],
    ] as const) {
      expect([fields, (await create(fields)).code]).toEqual([fields, code]);
    }
    expect((await create({ startport: "1", endport: "2" }, "other")).code).toBe(531);
    const rules = await list("listFirewallRules", "firewallrule", { ipaddressid });
    expect(rules).toHaveLength(6);
    expect(rules).toContainEqual(expect.objectContaining({ icmptype: 8, icmpcode: 0 }));
    await must("deleteFirewallRule", { id });
    const rest = await list("listFirewallRules", "firewallrule", { ipaddressid });
    expect(idsOf(rest)).not.toContain(id);
    expect((await zone.ask("listFirewallRules", { id })).status).toBe(431);
  });
});

describe("items of network ACL lists", () => {
  const create = async (fields: Fields = {}, as: Who = "owner"): Promise<Done> => {
    const all = { aclid: ids.aclList, protocol: "tcp", startport: "80", endport: "80", ...fields };
    const done = await zone.change("createNetworkACL", all, { as });
    if (done.code === 0) later(() => zone.change("deleteNetworkACL", { id: done.id }));
    return done;
  };

  holds("come last without a number, and have ports as text", async () => {
    const deny = { number: "10", protocol: "all", startport: "", endport: "", action: "Deny" };
    await create(deny);
    const cidrlist = "10.0.0.0/8,192.0.2.0/24";
    const more = { traffictype: "Ingress", action: "Allow", reason: "of the contract", cidrlist };
    const { id, result } = await create(more);
    expect(result["networkacl"]).toMatchObject({
      id,
      aclid: ids.aclList,
      protocol: "tcp",
      startport: "80",
      endport: "80",
      number: 11,
      state: "Active",
      tags: [],
      ...more,
    });
    expect(idsOf(await listItems())).toContain(id);
    expect(idsOf(await listItems({ traffictype: "Egress" }))).not.toContain(id);
    const byNetwork = { networkid: ids.tier, aclid: "" };
    expect(idsOf(await listItems(byNetwork))).toContain(id);
    await must("deleteNetworkACL", { id });
    expect(idsOf(await listItems())).not.toContain(id);
    expect((await zone.change("deleteNetworkACL", { id })).code).toBe(431);
  });

  holds("are changed in part, under the key of another command", async () => {
    const { id } = await create({ number: "5", reason: "old" });
    const other = await create({ number: "7", startport: "443", endport: "443" });
    const fields = { id, number: "6", reason: "new" };
    const { key, body } = await zone.ask("updateNetworkACLItem", fields, { method: "POST" });
    expect(key).toBe("createnetworkaclresponse");
    await zone.end(String(body["jobid"]));
    const [item] = await listItems({ id });
    expect(item).toMatchObject({ number: 6, reason: "new", protocol: "tcp", startport: "80" });
    const taken = await zone.change("updateNetworkACLItem", { id, number: "7" });
    expect([taken.code, other.code]).toEqual([431, 0]);
    expect(await listItems({ id })).toEqual([item ?? {}]);
  });

  holds("that do not fit are refused, and those of the default lists stay", async () => {
    await create({ number: "5" });
    const refused: Fields[] = [
      { number: "5", startport: "81", endport: "81" },
      { number: "0" },
      { endport: "79" },
      { protocol: "sctp" },
      { protocol: "icmp" },
      { icmptype: "8" },
      { cidrlist: "10.0.0.0" },
      { action: "Maybe" },
      { traffictype: "Sideways" },
      { aclid: "" },
    ];
    for (const fields of refused) {
      expect([fields, (await create(fields)).code]).toEqual([fields, 431]);
    }
    expect((await create({}, "other")).code).toBe(531);
    const lists = await list("listNetworkACLLists", "networkacllist", { listall: "true" });
    expect(lists).toContainEqual(expect.objectContaining({ id: ids.aclList, vpcid: ids.vpc }));
    for (const name of ["default_allow", "default_deny"]) {
      const found = lists.find((one) => one["name"] === name);
      expect(found).not.toHaveProperty("vpcid");
      expect((await create({ aclid: String(found?.["id"]) })).code).toBe(431);
    }
  });

  holds("of a list for every VPC are the root administrator's", async () => {
    const root = asUser("root");
    const aclid = await place.makeGlobalList(zone);
    const fields = { aclid, protocol: "tcp", startport: "80", endport: "80" };
    expect((await create(fields)).code).toBe(531);
    const { id } = await must("createNetworkACL", fields, root);
    expect((await zone.change("deleteNetworkACL", { id })).code).toBe(530);
    await must("deleteNetworkACL", { id }, root);
    await zone.change("deleteNetworkACLList", { id: aclid }, root);
  });
});

describe("tags", () => {
  const toFields = (resourceids: string, tags: Fields): Fields => ({
    resourceids,
    resourcetype: "PublicIpAddress",
    ...toTags(tags),
  });
  const toTags = (tags: Fields): Fields =>
    Object.fromEntries(
      Object.entries(tags).flatMap(([key, value], at) => [
        [`tags[${at}].key`, key],
        [`tags[${at}].value`, value],
      ]),
    );
  const add = (resourceids: string, tags: Fields, as: Who = "owner"): Promise<Done> =>
    zone.change("createTags", toFields(resourceids, tags), { as });
  const tagsOf = async (id: string): Promise<unknown> => {
    const [ip] = await listIps({ id });
    const pairs = listEntries({ body: ip ?? {} }, "tags").map(({ key, value }) => [key, value]);
    return Object.fromEntries(pairs);
  };

  holds("are added to all objects or to none, each key once", async () => {
    const [one, two] = [await takeIp(), await takeIp()];
    expect((await add(`${one},${two}`, { a: "1", b: "2" })).code).toBe(0);
    for (const value of ["1", "2"]) {
      const done = await add(`${two},${one}`, { c: "3", A: value });
      expect(done.code).toBe(530);
      expect(done.text).toMatch(/^tag A already on PublicIpAddress with id /);
    }
    expect([await tagsOf(one), await tagsOf(two)]).toEqual([
      { a: "1", b: "2" },
      { a: "1", b: "2" },
    ]);
    expect((await add(one, { d: "" })).code).not.toBe(0);
    expect((await add(one, { d: "4" }, "other")).code).not.toBe(0);
    const unknown = await zone.change("createTags", {
      ...toFields(one, { e: "5" }),
      resourcetype: "Nothing",
    });
    expect(unknown.code).not.toBe(0);
    expect(await tagsOf(one)).toEqual({ a: "1", b: "2" });
  });

  holds("find the objects that have one of them", async () => {
    const [one, two] = [await takeIp(), await takeIp()];
    await add(one, { a: "1", c: "3" });
    await add(two, { b: "2" });
    const found = async (tags: Fields): Promise<unknown[]> =>
      idsOf(await listIps({ listall: "true", ...toTags(tags) })).toSorted();
    expect(await found({ a: "1" })).toEqual([one]);
    expect(await found({ a: "1", b: "2" })).toEqual([one, two].toSorted());
    expect(await found({ a: "2" })).toEqual([]);
    const tags = { resourceid: one, resourcetype: "PublicIpAddress", key: "a" };
    expect(await list("listTags", "tag", tags)).toMatchObject([
      { key: "a", value: "1", resourceid: one, resourcetype: "PublicIpAddress" },
    ]);
    expect(await list("listTags", "tag", tags, asUser("other"))).toEqual([]);
  });

  holds("are deleted by key and value, which must be there", async () => {
    const id = await takeIp();
    await add(id, { a: "1", b: "2" });
    const drop = async (tags: Fields, as: Who = "owner"): Promise<number> =>
      (await zone.change("deleteTags", toFields(id, tags), { as })).code;
    expect(await drop({ a: "9" })).toBe(530);
    expect(await drop({ a: "1" }, "other")).not.toBe(0);
    expect(await drop({ a: "1" })).toBe(0);
    expect(await tagsOf(id)).toEqual({ b: "2" });
    expect(await drop({ a: "1" })).toBe(530);
    expect(await drop({})).toBe(0);
    expect(await tagsOf(id)).toEqual({});
  });
});

describe("stickiness policies", () => {
  const create = (lbruleid: string, fields: Fields = {}): Promise<Done> =>
    zone.change("createLBStickinessPolicy", {
      lbruleid,
      name: "keep",
      methodname: "SourceBased",
      ...fields,
    });
  const listOf = async (lbruleid: string): Promise<Record<string, unknown>[]> => {
    const [rule] = await list("listLBStickinessPolicies", "stickinesspolicies", { lbruleid });
    expect(rule).toMatchObject({ lbruleid });
    return listEntries({ body: rule ?? {} }, "stickinesspolicy");
  };

  holds(
    "are listed in their rule, a new one replaces the old one, and both keys are odd",
    async () => {
      const lbruleid = await makeRule(await takeIp());
      expect(await listOf(lbruleid)).toEqual([]);
      const parameters = {
        "param[0].name": "tablesize",
        "param[0].value": "200k",
        "param[1].name": "expire",
        "param[1].value": "30m",
      };
      const { id } = await create(lbruleid, { description: "why", ...parameters });
      expect(await listOf(lbruleid)).toMatchObject([
        {
          id,
          name: "keep",
          methodname: "SourceBased",
          description: "why",
          params: { tablesize: "200k", expire: "30m" },
        },
      ]);
      const next = { lbruleid, name: "next", methodname: "SourceBased" };
      const made = await zone.ask("createLBStickinessPolicy", next, { method: "POST" });
      expect(made.key).toBe("createLBStickinessPolicy");
      await zone.end(String(made.body["jobid"]));
      expect(idsOf(await listOf(lbruleid))).toEqual([made.body["id"]]);
      const last = { id: String(made.body["id"]) };
      const gone = await zone.ask("deleteLBStickinessPolicy", last, { method: "POST" });
      expect(gone.key).toBe("deleteLBstickinessrruleresponse");
      await zone.end(String(gone.body["jobid"]));
      expect(await listOf(lbruleid)).toEqual([]);
    },
  );

  holds("that the router does not know are refused, and the old one stays", async () => {
    const lbruleid = await makeRule(await takeIp());
    const { id } = await create(lbruleid);
    const toParam = (name: string, value: string): Fields => ({
      "param[0].name": name,
      "param[0].value": value,
    });
    const refused: Fields[] = [
      { methodname: "Pin" },
      { methodname: "" },
      toParam("cookie-name", "x"),
      toParam("tablesize", "200"),
      toParam("expire", "soon"),
      { lbruleid: randomUUID() },
    ];
    for (const fields of refused) {
      expect([fields, (await create(lbruleid, fields)).code]).toEqual([fields, 431]);
    }
    expect(idsOf(await listOf(lbruleid))).toEqual([id]);
    const options = asUser("other");
    expect((await zone.ask("listLBStickinessPolicies", { lbruleid }, options)).status).toBe(531);
    expect((await zone.ask("listLBStickinessPolicies")).status).toBe(431);
  });
});
