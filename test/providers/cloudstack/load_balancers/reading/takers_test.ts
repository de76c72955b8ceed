/**
 * Whose API user took an address, as far as CloudStack says it.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readTakers } from "../../../../../lib/providers/cloudstack/load_balancers/reading/takers.ts";
import { CloudStackSession } from "../../../../../lib/providers/cloudstack/session/session.ts";
import { FakeCloudStack, KEYS, refuse, reply, toDeps, toSettings } from "../../fake_server.ts";

const signal = new AbortController().signal;
const ADDRESS = "aaaaaaaa-2222-4333-8444-555555555555";
const OUR_USER = "bbbbbbbb-2222-4333-8444-555555555555";
const OTHER_USER = "cccccccc-2222-4333-8444-555555555555";
const AT_MS = Date.UTC(2026, 0, 2, 12);

let fake: FakeCloudStack;
let session: CloudStackSession;
let users: object[];
let jobs: object[];

beforeEach(() => {
  users = [
    { id: OTHER_USER, apikey: "another" },
    { id: OUR_USER, apikey: KEYS.apiKey },
  ];
  jobs = [];
  fake = new FakeCloudStack();
  fake.answer = ({ command }) =>
    command === "listUsers"
      ? reply(command, { count: users.length, user: users })
      : reply(command, { count: jobs.length, asyncjobs: jobs });
  session = new CloudStackSession(toSettings(fake.url), toDeps());
});
afterEach(() => fake.stop());

let count = 0;

function toJob(userid: string, more: object = {}): object {
  count += 1;
  return {
    jobid: `dddddddd-2222-4333-8444-${String(count).padStart(12, "0")}`,
    userid,
    jobinstanceid: ADDRESS,
    jobstatus: 1,
    created: "2026-01-02T12:00:01+0000",
    cmd: "org.apache.cloudstack.api.command.user.address.AssociateIPAddrCmd",
    ...more,
  };
}

async function read(): Promise<"us" | "others" | undefined> {
  const takers = await readTakers({ session, asked: new Map([[ADDRESS, AT_MS]]) }, signal);
  return takers?.get(ADDRESS);
}

describe("readTakers()", () => {
  test.each<[string, () => object[], "us" | "others"]>([
    ["a job of our user", () => [toJob(OUR_USER)], "us"],
    ["a job of our user that runs", () => [toJob(OUR_USER, { jobstatus: 0 })], "us"],
    ["a job of another user", () => [toJob(OTHER_USER)], "others"],
    ["no job", () => [], "others"],
    ["a job for another address", () => [toJob(OUR_USER, { jobinstanceid: OUR_USER })], "others"],
    ["a job without an address", () => [toJob(OUR_USER, { jobinstanceid: undefined })], "others"],
    ["a job that failed", () => [toJob(OUR_USER, { jobstatus: 2 })], "others"],
    [
      "a job from long before",
      () => [toJob(OUR_USER, { created: "2026-01-02T10:59:00+0000" })],
      "others",
    ],
    [
      "a job of a server whose clock is behind",
      () => [toJob(OUR_USER, { created: "2026-01-02T11:30:00+0000" })],
      "us",
    ],
    ["a job without a date", () => [toJob(OUR_USER, { created: undefined })], "others"],
    [
      "another user's job, and then ours",
      () => [toJob(OTHER_USER, { created: "2026-01-02T11:59:00+0000" }), toJob(OUR_USER)],
      "us",
    ],
    [
      "our job, and then another user's",
      () => [toJob(OTHER_USER, { created: "2026-01-02T12:09:00+0000" }), toJob(OUR_USER)],
      "others",
    ],
    ["two jobs of one second", () => [toJob(OTHER_USER), toJob(OUR_USER)], "others"],
  ])("with %s", async (_title, toJobs, taker) => {
    jobs = toJobs();
    expect(await read()).toBe(taker);
    expect(fake.commands).toEqual(["GET listUsers", "GET listAsyncJobs"]);
  });

  test.each(["listUsers", "listAsyncJobs"])(
    "says nothing if the role lacks %s",
    async (lacking) => {
      const { answer } = fake;
      fake.answer = (seen) =>
        seen.command === lacking ? refuse(lacking, 432, "not available") : answer(seen);
      jobs = [toJob(OUR_USER)];
      expect(await read()).toBeUndefined();
    },
  );

  test("says nothing if the server does not show whose keys these are", async () => {
    users = [{ id: OUR_USER }];
    jobs = [toJob(OUR_USER)];
    expect(await read()).toBeUndefined();
  });

  test("a list that is not whole is no answer", async () => {
    const { answer } = fake;
    fake.answer = (seen) =>
      seen.command === "listAsyncJobs"
        ? reply(seen.command, { count: 2, asyncjobs: [toJob(OUR_USER)] })
        : answer(seen);
    expect(String(await read().catch((error: unknown) => error))).toContain("not whole");
  });
});
