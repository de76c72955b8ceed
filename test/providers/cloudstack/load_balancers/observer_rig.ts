/**
 * Looks at a simulated CloudStack on a manual clock, for one file of tests.
 * @module
 */
import { afterEach, beforeEach } from "bun:test";
import type { LoadBalancerClaim } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import {
  Observer,
  type ObserverOptions,
} from "../../../../lib/providers/cloudstack/load_balancers/observer.ts";
import { ObservationStore } from "../../../../lib/providers/cloudstack/load_balancers/store.ts";
import type { Observation } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { CloudStackProvider, Memory } from "../../../../lib/providers/cloudstack/provider.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { LoadBalancingApi } from "../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
  type World,
} from "../../../../lib/simulator/cloudstack/mod.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toDeps, toSettings } from "../fake_server.ts";
import { SIGNING_KEY } from "./objects.ts";

const signal = new AbortController().signal;

/** What a test looks with; each test gets a new one. */
interface LookRig {
  readonly clock: ManualClock;
  readonly simulator: CloudStackSimulator;
  readonly store: ObservationStore;
  readonly provider: CloudStackProvider;
  readonly look: Observer;
  /** The addresses about which CloudStack was asked who took them, each time with when they were recorded. */
  readonly askedTakers: ReadonlyMap<string, number>[];
  /** The Services; a test may set others. */
  claims: LoadBalancerClaim[];
  /** The VMs of Nodes, as the caller knows them. */
  instanceIds: ReadonlySet<string>;
  /** Looks for these Services. @param maxAgeMs @default {0} */
  observe(maxAgeMs?: number): Promise<Observation>;
  /** How often each command was sent since the last time this was called. */
  takeRequests(): Record<string, number>;
}

/** Starts a simulator with a look before each test of the file, and stops it afterwards. */
export function useLook(world: World, more: object = {}): LookRig {
  let rig: LookRig | undefined;
  beforeEach(async () => {
    rig = await startRig(world, more);
  });
  afterEach(() => rig?.simulator.stop());
  const running = (): LookRig => {
    if (rig === undefined) throw new Error("Cannot use the rig outside of a test");
    return rig;
  };
  return {
    get clock() {
      return running().clock;
    },
    get simulator() {
      return running().simulator;
    },
    get store() {
      return running().store;
    },
    get provider() {
      return running().provider;
    },
    get look() {
      return running().look;
    },
    get askedTakers() {
      return running().askedTakers;
    },
    get claims() {
      return running().claims;
    },
    set claims(claims) {
      running().claims = claims;
    },
    get instanceIds() {
      return running().instanceIds;
    },
    set instanceIds(ids) {
      running().instanceIds = ids;
    },
    observe: (maxAgeMs) => running().observe(maxAgeMs),
    takeRequests: () => running().takeRequests(),
  };
}

async function startRig(world: World, more: object): Promise<LookRig> {
  const clock = new ManualClock();
  const simulator = await startCloudStackSimulator({ clock, world });
  const { url, apiKey, secretKey } = simulator;
  const settings = toSettings(url, { apiKey, secretKey, ...more });
  const session = new CloudStackSession(settings, { ...toDeps(), clock });
  const store = new ObservationStore();
  const shared = { session, settings, clock, log: silentLogger, memory: new Memory(), store };
  const provider = new CloudStackProvider(shared);
  const api = new LoadBalancingApi(session);
  const readAllocatedBy: ObserverOptions["readAllocatedBy"] = (asked) => {
    rig.askedTakers.push(asked);
    return Promise.resolve(new Map([...asked.keys()].map((id) => [id, "us"])));
  };
  const readSigningKey = (): Promise<Uint8Array> => Promise.resolve(SIGNING_KEY);
  const look = new Observer({
    api,
    source: provider,
    readAllocatedBy,
    readSigningKey,
    store,
    clock,
  });
  const rig: LookRig = {
    askedTakers: [],
    clock,
    simulator,
    store,
    provider,
    look,
    claims: [],
    instanceIds: new Set(),
    observe: (maxAgeMs = 0) =>
      look.observe(
        { claims: () => rig.claims, instanceIds: () => rig.instanceIds, maxAgeMs },
        signal,
      ),
    takeRequests: () => {
      const { requests } = simulator;
      const counts = Object.fromEntries(requests.byCommand);
      requests.reset();
      return counts;
    },
  };
  // Without Nodes; and so that looks do not wait for it.
  await provider.listInventory([], signal);
  simulator.requests.reset();
  return rig;
}

/** A Service with this UID. */
export function toClaim(uid: string, over: Partial<LoadBalancerClaim> = {}): LoadBalancerClaim {
  const owner = { namespace: "shop", name: "web", uid };
  return { owner, annotations: {}, labels: {}, ingress: [], ...over };
}
