/**
 * A simulated CloudStack without sockets: requests in, outcomes out.
 * @module
 */
import { assert } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import type { Outcome } from "../loopback.ts";
import { toAccount, toDomain, toUser, type User } from "./access/accounts.ts";
import { Auth } from "./access/auth.ts";
import { Api } from "./api.ts";
import { Faults } from "./faults.ts";
import { Front } from "./front.ts";
import { RequestLog } from "./requests.ts";
import { toSettings, type Settings } from "./settings.ts";
import { Jobs } from "./world/jobs.ts";
import type { World } from "./world/records.ts";
import { CloudStackState } from "./world/state.ts";

/** What a {@linkcode CloudStack} needs. */
export interface CloudStackOptions {
  readonly clock: Clock;
  /** Objects it starts with. Without users there is one, of the account `acme`. @default {none} */
  readonly world?: World;
  /** Settings other than those of a new installation. */
  readonly settings?: Partial<Settings>;
  /** Ends its jobs and delays. */
  readonly signal: AbortSignal;
}

/** A CloudStack. Its clock judges `expires`, and dates its answers: a client must use the same one. */
export class CloudStack {
  readonly state: CloudStackState;
  /** The first user, whose keys and role a test may change in place. */
  readonly user: User;
  /** The server's settings; a test may change them in place. */
  readonly settings: Settings;
  readonly jobs: Jobs;
  readonly faults: Faults = new Faults();
  readonly requests: RequestLog = new RequestLog();
  readonly #front: Front;

  constructor({ clock, world = {}, settings, signal }: CloudStackOptions) {
    this.state = new CloudStackState(withUser(world));
    const [user] = this.state.users.values();
    assert(user !== undefined, "there is no user");
    this.user = user;
    this.settings = toSettings(settings);
    const shared = { clock, state: this.state, settings: this.settings };
    this.jobs = new Jobs({ clock, durationMs: () => this.settings.jobMs, signal });
    const api = new Api({ ...shared, auth: new Auth(shared), jobs: this.jobs });
    this.#front = new Front({
      answer: (method, parameters, fault) => api.answer(method, parameters, fault),
      faults: this.faults,
      requests: this.requests,
      clock,
      signal,
    });
  }

  /** As {@linkcode Front.answer}. */
  answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    return this.#front.answer(request, onWait);
  }
}

/** A world in which at least one user may ask. */
function withUser(world: World): World {
  if ((world.users ?? []).length > 0) return world;
  const domain = toDomain("ROOT");
  const account = toAccount({ name: "acme", domain });
  return {
    ...world,
    domains: [...(world.domains ?? []), domain],
    accounts: [...(world.accounts ?? []), account],
    users: [toUser({ username: "kube", account })],
  };
}
