/**
 * Requests to a Redfish service over the network.
 * @module
 */
import type { RedfishLogin } from "./python.ts";

/** A change. */
export interface RedfishChange {
  readonly method: "PATCH" | "POST";
  readonly json: object;
}

/** Asks a process. @param login Absent: without any user. @param change Absent: a GET */
export async function askRedfish(
  { url }: { readonly url: string },
  path: string,
  login?: Pick<RedfishLogin, "password" | "username">,
  change?: RedfishChange,
): Promise<Response> {
  const basic = login && Buffer.from(`${login.username}:${login.password}`).toString("base64");
  return await fetch(`${url}${path}`, {
    tls: { rejectUnauthorized: false },
    headers: {
      ...(basic !== undefined && { authorization: `Basic ${basic}` }),
      ...(change && { "content-type": "application/json" }),
    },
    ...(change && { method: change.method, body: JSON.stringify(change.json) }),
  });
}
