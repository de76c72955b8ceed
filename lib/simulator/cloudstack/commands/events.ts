/**
 * `listEvents`: who took which address, as far as jobs say it. Events of other types are not kept.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { toUuid } from "../../uuid.ts";
import { ApiError } from "../replies.ts";
import { isSince } from "../settings.ts";
import { type Job, toDate } from "../world/jobs.ts";
import { type Call, type Command, findNamed, type List, toList, toOwner } from "./call.ts";

/** The commands. */
export const EVENT_COMMANDS: Readonly<Record<string, Command>> = {
  listEvents: { kind: "list", run: listEvents },
};

const TAKING = "NET.IPASSIGN";

interface Happening {
  readonly job: Job;
  readonly state: "Completed" | "Started";
  readonly atMs: number;
}

/** Those of addresses of the caller's account or of a project, the newest first. */
function listEvents({ caller, parameters, state, settings, jobs, nowMs }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const address = findNamed(parameters, "resourceid", state.publicIps);
  // The server checks whose it is, and a free one is of no account.
  if (address !== undefined && address.accountId === undefined) {
    const message = `Acct: ${caller.account.name} does not have permission to operate within domain`;
    throw new ApiError(531, message, 4365);
  }
  const type = parameters.get("type") ?? TAKING;
  const startMs = Date.parse(parameters.get("startdate") ?? "1970-01-01");
  const sinceMs = Math.max(startMs, nowMs - settings.eventsKeptMs);
  const toAccount = ({ instanceId, accountId }: Job): string =>
    state.publicIps.get(instanceId)?.accountId ?? accountId;
  const events = [...jobs.values()]
    .filter(({ command }) => command === "associateIpAddress" && type === TAKING)
    .filter((job) => isOwned(toAccount(job)))
    .filter(({ instanceId }) => address === undefined || instanceId === address.id)
    .flatMap((job) => listHappenings(job))
    .filter(({ atMs }) => atMs >= sinceMs)
    .toReversed();
  return toList("event", events, ({ job, state: how, atMs }) => ({
    id: toUuid(`event/${job.id}/${how}`),
    username: state.users.get(job.userId)?.username,
    type: TAKING,
    level: how === "Completed" && job.status === 2 ? "ERROR" : "INFO",
    ...toOwner(toAccount(job), state),
    ...(isSince(settings, "4.17") && { resourceid: job.instanceId, resourcetype: "IpAddress" }),
    created: toDate(atMs),
    state: how,
  }));
}

/** A job that was cut off has no end. */
function listHappenings(job: Job): Happening[] {
  const { createdMs, completedMs, result } = job;
  const started = { job, state: "Started", atMs: createdMs } as const;
  if (completedMs === undefined || result === undefined) return [started];
  return [started, { job, state: "Completed", atMs: completedMs }];
}
