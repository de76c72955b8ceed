/**
 * The commands about asynchronous jobs.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { ApiError } from "../replies.ts";
import { toClassName, toJobReply } from "../world/jobs.ts";
import { type Call, type Command, type List, matches, needNamed, toList, toOwner } from "./call.ts";

/** The commands. */
export const JOB_COMMANDS: Readonly<Record<string, Command>> = {
  listAsyncJobs: { kind: "list", run: listJobs },
  queryAsyncJobResult: { kind: "answer", run: queryJob },
};

/** Jobs that have not ended, the oldest first. A job is of the account that asked, not of the object's owner. */
function listJobs({ caller, parameters, state, settings, jobs }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const found = [...jobs.values()].filter(
    (job) =>
      (job.status === 0 || settings.listsEndedJobs) &&
      isOwned(job.accountId) &&
      matches(parameters, toClassName(job.command)),
  );
  return toList("asyncjobs", found, (job) => ({
    ...toJobReply(job),
    ...toOwner(job.accountId, state),
  }));
}

function queryJob({ caller: { account }, parameters, jobs }: Call): object {
  const job = needNamed(parameters, "jobid", jobs);
  if (account.type === "user" && job.accountId !== account.id) {
    throw new ApiError(
      531,
      `Account ${account.name} does not have permission to see the job`,
      4365,
    );
  }
  return toJobReply(job);
}
