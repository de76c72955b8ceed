/**
 * Asks whose API user took addresses.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import { ApiError } from "../session/errors.ts";
import type { Query } from "../session/lists.ts";
import type { CloudStackSession } from "../session/session.ts";
import { ID, NAME, REFERENCE, TEXT, WHOLE_NUMBER } from "../wire/schema.ts";
import { SKEW_MS } from "./record.ts";

/** Whose API user took an address. */
export type AllocatedBy = "us" | "others";

/** What {@linkcode readAllocatedBy} needs. */
interface AllocatedByOptions {
  readonly session: Pick<CloudStackSession, "isOwnKey" | "list">;
  readonly projectId: string | undefined;
  /** When each address was recorded, or the earliest time to look at, by its ID, in milliseconds since 1970. */
  readonly asked: ReadonlyMap<string, number>;
}

/** A user takes an address, or has taken it. */
interface Allocation {
  /** Of the job or the event. */
  readonly id: string;
  readonly addressId: string | undefined;
  /** ID or name. */
  readonly user: string;
  readonly createdMs: number;
  readonly hasFailed: boolean;
}

interface User {
  readonly id: string;
  readonly username?: string | null | undefined;
  readonly apikey?: string | null | undefined;
}

const FAILED = 2;
const DAY_MS = 86_400_000;
const USERS: Query<User> = {
  command: "listUsers",
  key: "user",
  schema: v.object({ id: ID, username: TEXT, apikey: TEXT }),
};
const JOBS: Query<Allocation> = {
  command: "listAsyncJobs",
  key: "asyncjobs",
  // Part of the name of the class that takes addresses.
  params: { keyword: "AssociateIPAddrCmd" },
  schema: v.pipe(
    v.object({
      jobid: ID,
      userid: ID,
      jobinstanceid: REFERENCE,
      jobstatus: WHOLE_NUMBER,
      created: NAME,
    }),
    v.transform(({ jobid, userid, jobinstanceid, jobstatus, created }) => ({
      id: jobid,
      addressId: jobinstanceid,
      user: userid,
      createdMs: Date.parse(created),
      hasFailed: jobstatus === FAILED,
    })),
  ),
};
const EVENT: Query<Allocation>["schema"] = v.pipe(
  v.object({
    id: ID,
    username: NAME,
    resourceid: REFERENCE,
    state: NAME,
    level: NAME,
    created: NAME,
  }),
  v.transform(({ id, username, resourceid, state, level, created }) => ({
    id,
    // Before it is completed, nothing was taken.
    addressId: state === "Completed" ? resourceid : undefined,
    user: username,
    createdMs: Date.parse(created),
    hasFailed: level === "ERROR",
  })),
);

/**
 * Asks whose API user took addresses after they were recorded. Three commands, for any number of addresses.
 *
 * CloudStack lists jobs of the own account that have not ended; before 4.12, also those that ended within about a day.
 * Its events say who completed it for 15 days, unless the server is set otherwise; before 4.17, not about which
 * address. So no job and no event says nothing about an address.
 *
 * @returns `us` or `others` for each address that has jobs or events; `undefined` if this account may not ask
 * @throws {CloudError} when there is no usable answer
 */
export async function readAllocatedBy(
  { session, projectId, asked }: AllocatedByOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, AllocatedBy> | undefined> {
  const users = await readAllowed(session, USERS, signal);
  const own = users && (await findOwn(session, users.objects));
  if (own === undefined) return undefined;
  const [jobs, events] = await Promise.all([
    readAllowed(session, JOBS, signal),
    readAllowed(session, toEvents(asked, projectId), signal),
  ]);
  if (jobs === undefined && events === undefined) return undefined;
  const allocations = [
    ...(jobs?.objects ?? []).map((one) => ({ ...one, isOwn: one.user === own.id })),
    ...(events?.objects ?? []).map((one) => ({ ...one, isOwn: one.user === own.username })),
  ];
  const isReadable = [jobs, events].every((list) => (list?.unreadable ?? []).length === 0);
  const allocatedBy = new Map<string, AllocatedBy>();
  for (const [id, atMs] of asked) {
    // One that cannot be read may be another user's.
    const by = findAllocatedBy(allocations, id, atMs) ?? (isReadable ? undefined : "others");
    if (by !== undefined) allocatedBy.set(id, by);
  }
  return allocatedBy;
}

/** The server reads a date in a time zone of its own. */
function toEvents(asked: ReadonlyMap<string, number>, projectId: string | undefined) {
  const sinceMs = Math.max(0, Math.min(...asked.values()) - SKEW_MS - DAY_MS);
  return {
    command: "listEvents",
    key: "event",
    params: {
      type: "NET.IPASSIGN",
      listall: "true",
      startdate: new Date(sinceMs).toISOString().slice(0, "yyyy-mm-dd".length),
      ...(projectId !== undefined && { projectid: projectId }),
    },
    schema: EVENT,
  };
}

/** @returns `undefined` if the role does not allow it @throws {CloudError} also if the list is not whole */
async function readAllowed<T extends { readonly id: string }>(
  session: AllocatedByOptions["session"],
  query: Query<T>,
  signal: AbortSignal,
) {
  try {
    const list = await session.list(query, signal);
    if (list.gap === undefined) return list;
    throw new CloudError("unreachable", `the list of ${query.command} is not whole: ${list.gap}`);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "denied") return undefined;
    throw error;
  }
}

/** The user whose keys are in use; `undefined` if the server does not show it. */
async function findOwn(
  session: AllocatedByOptions["session"],
  users: readonly User[],
): Promise<User | undefined> {
  for (const user of users) {
    if (user.apikey && (await session.isOwnKey(user.apikey))) return user;
  }
  return undefined;
}

/**
 * Who took an address last, after it was recorded. Others if two of the same second differ, if all failed, or if there
 * is no date. `undefined` if there is nothing.
 */
function findAllocatedBy(
  allocations: readonly (Allocation & { readonly isOwn: boolean })[],
  addressId: string,
  atMs: number,
): AllocatedBy | undefined {
  // Within the skew, an older one of ours may hide that a user of another account took the address since.
  const about = allocations.filter(
    (one) => one.addressId === addressId && !(one.createdMs < atMs - SKEW_MS),
  );
  if (about.length === 0) return undefined;
  const taking = about.filter(({ hasFailed }) => !hasFailed);
  const lastMs = Math.max(...taking.map(({ createdMs }) => createdMs));
  const last = taking.filter(({ createdMs }) => createdMs === lastMs);
  return last.length > 0 && last.every(({ isOwn }) => isOwn) ? "us" : "others";
}
