/**
 * What an endpoint of the Redfish service is.
 * @module
 */
import type { Visitor } from "./login/access.ts";

/** A request. */
export interface Visit {
  readonly request: Request;
  /** Parts of the path: `system` is the ID of the machine that is asked for, `id` that of anything else. */
  readonly params: Readonly<Record<string, string>>;
  /** The address of the client. */
  readonly address: string;
  /** Ends the work for it. */
  readonly signal: AbortSignal;
}

/** A request of someone who gave a right user and password. */
export interface KnownVisit extends Visit {
  readonly visitor: Visitor;
}

/** What is done for a request, by its method. @throws {RedfishError} to refuse it */
type Acts<V extends Visit> = Readonly<
  Partial<Record<"GET" | "POST" | "PATCH" | "DELETE", (visit: V) => Response | Promise<Response>>>
>;

/** A path of the service. */
export interface Endpoint {
  /** `/redfish/v1/Systems/:id`. */
  readonly path: string;
  /** For everyone. @default {nothing} */
  readonly open?: Acts<Visit>;
  /** For those who gave a right user and password. @default {nothing} */
  readonly known?: Acts<KnownVisit>;
  /** Whether a standby answers, too. @default {false} */
  readonly isOfStandby?: boolean;
}
