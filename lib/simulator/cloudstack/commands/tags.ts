/**
 * The commands about tags: jobs that change tags of several objects at once or not at all, and a list.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { ApiError, toInvalid } from "../replies.ts";
import type { CloudStackState } from "../world/state.ts";
import type { Tag } from "../world/tags.ts";
import {
  type Call,
  checkOwner,
  type Command,
  failJob,
  isSame,
  type List,
  needText,
  throwMissing,
  toList,
  toTagReply,
  type WantedJob,
} from "./call.ts";

/** The commands. */
export const TAG_COMMANDS: Readonly<Record<string, Command>> = {
  createTags: { kind: "job", run: createTags },
  deleteTags: { kind: "job", run: deleteTags },
  listTags: { kind: "list", run: listTags },
};

/** The objects that can have tags, and how their owner is found. */
const OWNERS: Readonly<Record<string, (state: CloudStackState, id: string) => string | undefined>> =
  {
    UserVm: ({ vms }, id) => vms.get(id)?.accountId,
    Network: ({ networks }, id) => networks.get(id)?.accountId,
    FirewallRule: ({ firewallRules }, id) => firewallRules.get(id)?.accountId,
    LoadBalancer: ({ loadBalancerRules }, id) => loadBalancerRules.get(id)?.accountId,
    PortForwardingRule: ({ portForwardings }, id) => portForwardings.get(id)?.accountId,
    NetworkACL: ({ aclItems, aclLists, vpcs }, id) => {
      const item = aclItems.get(id);
      if (item === undefined) return undefined;
      return vpcs.get(aclLists.get(item.listId)?.vpcId ?? "")?.accountId ?? "";
    },
    Vpc: ({ vpcs }, id) => vpcs.get(id)?.accountId,
    PublicIpAddress: ({ publicIps }, id) => {
      const ip = publicIps.get(id);
      return ip && (ip.accountId ?? "");
    },
  };

/** Everything but the form of the request is judged when the job runs, so that a refusal is a failed job. */
function createTags(call: Call): WantedJob {
  const { parameters, state } = call;
  const wanted = parameters.entries("tags");
  if (wanted.length === 0) throwMissing(parameters, "tags");
  return toTagJob(call, (resourceType, ids) => {
    const tags: Tag[] = [];
    for (const { key = "", value } of wanted) {
      for (const resourceId of ids) {
        const accountId = findOwner(call, resourceType, resourceId);
        if (key === "" || value === undefined || value === "") {
          throw toInvalid(`Value for the key ${key} is either null or empty`);
        }
        const tag = { key, value, resourceType, resourceId, accountId };
        if (state.tags.has(resourceId, key) || tags.some((one) => isSameTag(one, tag))) {
          throw new ApiError(530, `tag ${key} already on ${resourceType} with id ${resourceId}`);
        }
        tags.push(tag);
      }
    }
    for (const tag of tags) state.tags.add(tag);
  });
}

/** Without tags, all are deleted; without a value, any value is. Deleting none is a failure. */
function deleteTags(call: Call): WantedJob {
  const { parameters, state } = call;
  const wanted = parameters.entries("tags");
  return toTagJob(call, (resourceType, ids) => {
    const found = ids
      .flatMap((id) => state.tags.of(id))
      .filter(
        (tag) =>
          tag.resourceType === resourceType &&
          (wanted.length === 0 ||
            wanted.some(({ key = "", value }) => isSame(key, tag.key) && isSame(value, tag.value))),
      );
    if (found.length === 0) throw new ApiError(530, "Failed to delete tags");
    for (const tag of found) failJob(() => checkOwner(call, tag.accountId, tag.resourceId));
    for (const { resourceId, key } of found) state.tags.remove(resourceId, key);
  });
}

function toTagJob(
  { parameters }: Call,
  change: (resourceType: string, ids: readonly string[]) => void,
): WantedJob {
  const type = needText(parameters, "resourcetype");
  needText(parameters, "resourceids");
  const ids = parameters.list("resourceids").map((id) => id.toLowerCase());
  return {
    instanceType: "None",
    instanceId: "",
    run: () => {
      const resourceType = Object.keys(OWNERS).find((one) => isSame(type, one));
      if (resourceType === undefined) throw toInvalid(`Invalid resource type ${type}`);
      change(resourceType, ids);
      return { success: true };
    },
  };
}

function listTags({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const tags = state.tags.all.filter(
    (tag) =>
      isOwned(tag.accountId) &&
      isSame(parameters.get("key"), tag.key) &&
      isSame(parameters.get("value"), tag.value) &&
      isSame(parameters.get("resourceid"), tag.resourceId) &&
      isSame(parameters.get("resourcetype"), tag.resourceType),
  );
  return toList("tag", tags, (tag) => toTagReply(state, tag));
}

function findOwner(call: Call, type: string, id: string): string {
  const owner = OWNERS[type]?.(call.state, id);
  if (owner === undefined) {
    throw toInvalid(`Unable to find resource by uuid ${id} and type ${type}`);
  }
  failJob(() => checkOwner(call, owner, id));
  return owner;
}

function isSameTag(one: Tag, other: Tag): boolean {
  return one.resourceId === other.resourceId && isSame(one.key, other.key);
}
