/**
 * Asks who took an address that is not tagged yet.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../../cloud/errors.ts";
import { ApiError } from "../../session/errors.ts";
import type { Query } from "../../session/lists.ts";
import type { CloudStackSession } from "../../session/session.ts";
import { SKEW_MS } from "../record.ts";
import { ID, NAME, REFERENCE, TEXT, WHOLE_NUMBER } from "../../wire/fields.ts";

/** What {@linkcode readTakers} needs. */
interface TakersOptions {
  readonly session: Pick<CloudStackSession, "isOwnKey" | "list">;
  /** When each address was recorded as free, by its ID, in milliseconds since 1970. */
  readonly asked: ReadonlyMap<string, number>;
}

const FAILED = 2;

interface User {
  readonly id: string;
  readonly apikey?: string | null | undefined;
}

interface Job {
  readonly id: string;
  readonly userId: string;
  readonly addressId: string | undefined;
  readonly status: number;
  readonly createdMs: number;
}

const USERS: Query<User> = {
  command: "listUsers",
  key: "user",
  schema: v.object({ id: ID, apikey: TEXT }),
};
const JOBS: Query<Job> = {
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
      userId: userid,
      addressId: jobinstanceid,
      status: jobstatus,
      createdMs: Date.parse(created),
    })),
  ),
};

/**
 * Asks whose API user took addresses after they were recorded. Two commands, for any number of addresses.
 *
 * CloudStack lists jobs of the own account that have not ended; before 4.12, also those that ended within about a day.
 * So no job says nothing about an address.
 *
 * @returns `us` or `others` for each address that has jobs; `undefined` if this account may not ask
 * @throws {CloudError} when there is no usable answer
 */
export async function readTakers(
  { session, asked }: TakersOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, "us" | "others"> | undefined> {
  try {
    const userId = await readUserId(session, signal);
    if (userId === undefined) return undefined;
    const { objects, gap, unreadable = [] } = await session.list(JOBS, signal);
    if (gap !== undefined) {
      throw new CloudError("unreachable", `CloudStack's list of jobs is not whole: ${gap}`);
    }
    const takers = new Map<string, "us" | "others">();
    for (const [id, atMs] of asked) {
      const users = findTakers(objects, id, atMs);
      // One that cannot be read may be another user's.
      if (users === undefined && unreadable.length === 0) continue;
      takers.set(id, users?.size === 1 && users.has(userId) ? "us" : "others");
    }
    return takers;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "denied") return undefined;
    throw error;
  }
}

/** The ID of the user whose keys are in use; `undefined` if the server does not show it. */
async function readUserId(
  session: TakersOptions["session"],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { objects } = await session.list(USERS, signal);
  for (const { id, apikey } of objects) {
    if (apikey && (await session.isOwnKey(apikey))) return id;
  }
  return undefined;
}

/**
 * Who took an address last, after it was recorded: several if two jobs are of the same second, no user if all jobs
 * failed or have no date, `undefined` if there is none.
 */
function findTakers(
  jobs: readonly Job[],
  addressId: string,
  atMs: number,
): ReadonlySet<string> | undefined {
  // Within the skew, an older job of ours may hide that a user of another account took the address since.
  const about = jobs.filter(
    (job) => job.addressId === addressId && !(job.createdMs < atMs - SKEW_MS),
  );
  if (about.length === 0) return undefined;
  const taking = about.filter(({ status }) => status !== FAILED);
  const lastMs = Math.max(...taking.map(({ createdMs }) => createdMs));
  const last = taking.filter(({ createdMs }) => createdMs === lastMs);
  return new Set(last.map(({ userId }) => userId));
}
