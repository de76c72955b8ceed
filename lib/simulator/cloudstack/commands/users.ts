/**
 * `listUsers`: the users of the caller's account, or of all that an administrator sees. It shows keys and no secrets.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { toList, type Call, type Command, type List } from "./call.ts";
import { toOwner } from "./owner_reply.ts";

/** The commands. */
export const USER_COMMANDS: Readonly<Record<string, Command>> = {
  listUsers: { kind: "list", run: listUsers },
};

function listUsers({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const found = [...state.users.values()].filter((user) => isOwned(user.accountId));
  return toList("user", found, ({ id, username, accountId, apiKey, isEnabled }) => ({
    id,
    username,
    ...toOwner(accountId, state),
    accountid: accountId,
    apikey: apiKey,
    state: isEnabled ? "enabled" : "disabled",
  }));
}
