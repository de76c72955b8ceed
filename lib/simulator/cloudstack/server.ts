/**
 * Runs the simulated CloudStack on loopback, faults included.
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { Loopback } from "../loopback.ts";
import { Auth } from "./access/auth.ts";
import { toAccount, toDomain, toUser } from "./access/accounts.ts";
import { Api } from "./api.ts";
import { Faults } from "./faults.ts";
import { Front } from "./front.ts";
import { RequestLog } from "./requests.ts";
import { toSettings, type Settings } from "./settings.ts";
import { Jobs } from "./world/jobs.ts";
import type { World } from "./world/records.ts";
import { CloudStackState } from "./world/state.ts";

/** What {@linkcode startCloudStackSimulator} takes. */
export interface CloudStackSimulatorOptions {
  readonly clock: Clock;
  /** @default {0, a free one} */
  readonly port?: number;
  /** Objects it starts with. Without users there is one, of the account `acme`. @default {none} */
  readonly world?: World;
  /** Settings other than those of a new installation. */
  readonly settings?: Partial<Settings>;
}

/** A running simulator. */
export interface CloudStackSimulator {
  /** The whole endpoint: `http://127.0.0.1:<port>/client/api`. */
  readonly url: string;
  /** Keys of the first user. */
  readonly apiKey: string;
  readonly secretKey: string;
  readonly state: CloudStackState;
  /** The server's settings; a test may change them in place. */
  readonly settings: Settings;
  readonly jobs: Jobs;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Requests that wait for an answer that is late or never comes. */
  readonly hanging: ReadonlySet<IncomingMessage>;
  /** Stops listening: new connections are refused, old ones are closed. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  accept(): Promise<void>;
  /** Stops for good. */
  stop(): Promise<void>;
}

/**
 * Starts a simulated CloudStack on 127.0.0.1. Resolves once it answers.
 *
 * Its clock judges `expires`, and dates its answers: a client must use the same one.
 */
export async function startCloudStackSimulator(
  options: CloudStackSimulatorOptions,
): Promise<CloudStackSimulator> {
  const { clock } = options;
  const state = new CloudStackState(withUser(options.world ?? {}));
  const settings = toSettings(options.settings);
  const stopped = new AbortController();
  const { signal } = stopped;
  const auth = new Auth({ clock, state, settings });
  const jobs = new Jobs({ clock, durationMs: () => settings.jobMs, signal });
  const faults = new Faults();
  const requests = new RequestLog();
  const api = new Api({ auth, state, settings, jobs });
  const front = new Front({
    answer: (method, parameters, fault) => api.answer(method, parameters, fault),
    faults,
    requests,
    clock,
    signal,
  });
  const loopback = new Loopback((request, onWait) => front.answer(request, onWait));
  await loopback.listen(options.port);
  const first = [...state.users.values()][0];
  return {
    url: `${loopback.url}/client/api`,
    apiKey: first?.apiKey ?? "",
    secretKey: first?.secretKey ?? "",
    state,
    settings,
    jobs,
    faults,
    requests,
    hanging: loopback.hanging,
    refuse: () => loopback.close(),
    accept: () => loopback.listen(),
    stop: async () => {
      stopped.abort();
      await loopback.close();
    },
  };
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
