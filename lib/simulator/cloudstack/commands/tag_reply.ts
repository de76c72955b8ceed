/**
 * Tags in the answers about the objects that have them, and lists of objects by their tags.
 * @module
 */
import type { Parameters } from "../parameters.ts";
import type { CloudStackState } from "../world/state.ts";
import type { Tag } from "../world/tags.ts";
import { isSame } from "./call.ts";
import { toOwner } from "./owner_reply.ts";

/** The field `tags` of an object. */
export function toTagsReply(state: CloudStackState, resourceId: string): object[] {
  return state.tags.of(resourceId).map((tag) => toTagReply(state, tag));
}

/** One tag. */
export function toTagReply(state: CloudStackState, tag: Tag): object {
  const { key, value, resourceType, resourceId, accountId } = tag;
  return {
    key,
    value,
    resourcetype: resourceType,
    resourceid: resourceId,
    ...toOwner(accountId, state),
  };
}

/**
 * Whether a list contains an object, by `tags[0].key` and `tags[0].value`: any object when none are asked for. Of
 * several tags one is enough, as on the server.
 */
export function createTagFilter(
  parameters: Parameters,
  state: CloudStackState,
): (resourceId: string) => boolean {
  const wanted = parameters.entries("tags");
  if (wanted.length === 0) return () => true;
  return (resourceId) =>
    state.tags
      .of(resourceId)
      .some((tag) =>
        wanted.some(
          ({ key, value }) =>
            key !== undefined &&
            value !== undefined &&
            isSame(key, tag.key) &&
            isSame(value, tag.value),
        ),
      );
}
