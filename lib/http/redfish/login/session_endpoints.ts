/**
 * The session service with the sessions of the visitor, and the roles that there are.
 * @module
 */
import { type Access, toCredentials, type Session, SESSION_SECONDS } from "./access.ts";
import { RedfishError, readFields, reply, replyDone } from "../replies.ts";
import type { Endpoint, KnownVisit, Visit } from "../endpoints.ts";
import {
  toAccountService,
  toCollection,
  toRole,
  toSession,
  toSessionService,
} from "../resources.ts";
import { ACCOUNTS_PATH, type RoleId, ROOT, SESSIONS_PATH } from "../words.ts";

const ROLE_IDS: readonly RoleId[] = ["Administrator", "Operator", "ReadOnly"];

/** The endpoints. */
export function listSessionEndpoints(access: Access): Endpoint[] {
  const find = ({ visitor, params: { id } }: KnownVisit): Session => {
    const session = access.list(visitor).find((one) => one.id === id);
    if (session) return session;
    throw new RedfishError(404, "ResourceMissingAtURI", "You have no such session");
  };
  const begin = async ({ request, address, signal }: Visit): Promise<Response> => {
    const { UserName: username, Password: password } = await readFields(request);
    const credentials = toCredentials(username, password);
    if (credentials === undefined) {
      throw new RedfishError(400, "PropertyMissing", "UserName and Password must be texts");
    }
    const { session, token } = access.begin(await access.check(credentials, address, { signal }));
    const headers = { "x-auth-token": token, location: `${SESSIONS_PATH}/${session.id}` };
    return reply(toSession(session.id, credentials.username), 201, headers);
  };
  return [
    { path: ACCOUNTS_PATH, known: { GET: () => reply(toAccountService()) } },
    {
      path: `${ACCOUNTS_PATH}/Roles`,
      known: {
        GET: () => {
          const paths = ROLE_IDS.map((id) => `${ACCOUNTS_PATH}/Roles/${id}`);
          return reply(toCollection("Role", `${ACCOUNTS_PATH}/Roles`, paths));
        },
      },
    },
    {
      path: `${ACCOUNTS_PATH}/Roles/:id`,
      known: {
        GET: ({ params: { id } }) => {
          const role = ROLE_IDS.find((one) => one === id);
          if (role) return reply(toRole(role));
          throw new RedfishError(404, "ResourceMissingAtURI", "There is no such role");
        },
      },
    },
    {
      path: `${ROOT}/SessionService`,
      known: { GET: () => reply(toSessionService(SESSION_SECONDS)) },
    },
    // The standard lets clients create in the list of members, too.
    { path: `${SESSIONS_PATH}/Members`, open: { POST: begin } },
    {
      path: SESSIONS_PATH,
      open: { POST: begin },
      known: {
        GET: ({ visitor }) => {
          const paths = access.list(visitor).map(({ id }) => `${SESSIONS_PATH}/${id}`);
          return reply(toCollection("Session", SESSIONS_PATH, paths));
        },
      },
    },
    {
      path: `${SESSIONS_PATH}/:id`,
      known: {
        GET: (visit) => reply(toSession(find(visit).id, visit.visitor.credentials.username)),
        DELETE: (visit) => {
          access.end(find(visit));
          return replyDone();
        },
      },
    },
  ];
}
