/**
 * Carries out steps on a simulated CloudStack, as processes that live one after another.
 * @module
 */
import { afterEach, beforeEach } from "bun:test";
import type { LoadBalancerRecord } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { CloudStackLoadBalancers } from "../../../../lib/providers/cloudstack/load_balancers/load_balancers.ts";
import { parseRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { Change } from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { ObservationStore } from "../../../../lib/providers/cloudstack/load_balancers/store.ts";
import type { Observation } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { Memory } from "../../../../lib/providers/cloudstack/provider.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { LoadBalancingApi } from "../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import {
  ACL_ITEMS,
  ADDRESSES,
  FIREWALL_RULES,
  NETWORKS,
  RULES,
} from "../../../../lib/providers/cloudstack/wire/objects.ts";
import type { PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { networkOf } from "../../../support/cloud/cloudstack_networks.ts";
import { type CloudStackRig, useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";
import { toDeps, toSettings } from "../fake_server.ts";
import { SIGNER, SIGNING_KEY } from "./objects.ts";

/** The Service of these tests. */
export const OWNER = {
  namespace: "shop",
  name: "web",
  uid: "11111111-2222-4333-8444-555555555555",
};
/** The cluster of these tests. */
export const CLUSTER_ID = "cccccccc-2222-4333-8444-555555555555";

/** The annotation of the Service. It outlives processes. */
class FakeRecord implements LoadBalancerRecord {
  text: string | undefined;
  readonly saved: (string | undefined)[] = [];
  /** Called before and after each save. */
  onSave: (when: "before" | "after") => Promise<void> | void = () => {};

  async save(text: string | undefined): Promise<void> {
    await this.onSave("before");
    this.saved.push(text);
    this.text = text;
    await this.onSave("after");
  }
}

/** What a test uses; each test gets a new simulator. */
interface ApplyRig extends CloudStackRig {
  readonly record: FakeRecord;
  readonly store: ObservationStore;
  readonly session: CloudStackSession;
  /** ID of the network of the cluster. */
  readonly networkId: string;
  /** Project of the settings. @default {none} */
  projectId: string | undefined;
  /** What `random()` gives. @default {0} */
  random: () => number;
  /** Ends the process, and starts another one that knows nothing. */
  restart(): void;
  /** Takes a look, also at some ACL lists. */
  look(scope?: Scope): Promise<Observation>;
  /** Carries out a change, and lets time go on until it is over. Returns its error. */
  apply(change: Change): Promise<unknown>;
  /** Lets time and requests go on until something is over. */
  finish<T>(work: Promise<T>): Promise<T>;
  /** The commands that changed something, or waited for it. */
  commands(): string[];
  ip(address: string): PublicIp | undefined;
  tagsOf(id: string): Readonly<Record<string, string>>;
}

interface Scope {
  readonly aclListIds: readonly string[];
}

/** One life of the process. */
interface Life {
  readonly session: CloudStackSession;
  readonly loadBalancers: CloudStackLoadBalancers;
  readonly store: ObservationStore;
  readonly stop: AbortController;
}

/** Starts a simulator and a process before each test of the file, and stops both afterwards. */
export function useApply(): ApplyRig {
  const rig = useCloudStack();
  let life: Life;
  let record = new FakeRecord();
  let state = { projectId: undefined as string | undefined, random: (): number => 0 };
  const live = (): Life => {
    const stop = new AbortController();
    const { url, apiKey, secretKey } = rig.simulator;
    const settings = toSettings(url, { apiKey, secretKey });
    const deps = { ...toDeps({ signal: stop.signal }), clock: rig.clock };
    const session = new CloudStackSession(settings, deps);
    const random = (): number => state.random();
    const store = new ObservationStore();
    store.setClusterIds([CLUSTER_ID]);
    store.setSigningKey(SIGNING_KEY);
    const source = {
      facts: {
        inProject: <T>(ask: (projectId: string | undefined) => Promise<T>): Promise<T> =>
          ask(state.projectId),
        readVersion: () => Promise.resolve(undefined),
      },
      memory: new Memory(),
      readBackends: () => Promise.reject(new Error("no step reads VMs here")),
    };
    const shared = { session, clock: rig.clock, source, store, random };
    return { session, loadBalancers: new CloudStackLoadBalancers(shared), store, stop };
  };
  beforeEach(() => {
    record = new FakeRecord();
    state = { projectId: undefined, random: () => 0 };
    life = live();
  });
  afterEach(() => life.stop.abort());
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    while (Bun.peek.status(work) === "pending") {
      await Bun.sleep(1);
      await rig.clock.advance(50);
    }
    return await work;
  };
  return {
    get simulator() {
      return rig.simulator;
    },
    get clock() {
      return rig.clock;
    },
    story: rig.story,
    idOf: rig.idOf,
    ipId: rig.ipId,
    ask: rig.ask,
    change: rig.change,
    get record() {
      return record;
    },
    get store() {
      return life.store;
    },
    get session() {
      return life.session;
    },
    get networkId() {
      return networkOf(rig, "k8s-paris").id;
    },
    get projectId() {
      return state.projectId;
    },
    set projectId(id) {
      state.projectId = id;
    },
    get random() {
      return state.random;
    },
    set random(random) {
      state.random = random;
    },
    restart: () => {
      life.stop.abort(new Error("killed"));
      life = live();
    },
    look: (scope) => finish(look(life, { projectId: state.projectId, ...scope })),
    apply: async (change) => {
      const { loadBalancers } = life;
      const kept = parseRecord(record.text, OWNER.uid, SIGNER);
      const step = { summary: change.kind, change, owner: OWNER, ...(kept && { record: kept }) };
      const applied = loadBalancers.apply(step, record, life.stop.signal);
      return await finish(
        applied.then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
    },
    finish,
    commands: () =>
      rig.simulator.requests.entries
        .map(({ command }) => command)
        .filter((command) => !command.startsWith("list")),
    ip: (address) =>
      [...rig.simulator.state.publicIps.values()].find((one) => one.address === address),
    tagsOf: (id) =>
      Object.fromEntries(rig.simulator.state.tags.of(id).map(({ key, value }) => [key, value])),
  };
}

async function look(
  { session, store, stop }: Life,
  { projectId, aclListIds = [] }: Partial<Scope> & { readonly projectId: string | undefined },
): Promise<Observation> {
  const api = new LoadBalancingApi(session);
  const open = store.begin();
  const { signal } = stop;
  const [addresses, rules, firewallRules, networks] = await Promise.all([
    api.listAll(ADDRESSES, projectId, signal),
    api.listAll(RULES, projectId, signal),
    api.listAll(FIREWALL_RULES, projectId, signal),
    api.listAll(NETWORKS, projectId, signal),
  ]);
  const members = await Promise.all(
    rules.objects.map(
      async ({ id }) => [id, (await api.listMembers(id, signal)) ?? new Set<string>()] as const,
    ),
  );
  const aclItems = await Promise.all(
    aclListIds.map(
      async (id) => (await api.listAll(ACL_ITEMS, projectId, signal, { aclid: id })).objects,
    ),
  );
  store.finish(open, {
    takenAtMs: 0,
    takenAtWallMs: 0,
    isOurCloud: true,
    addresses: toMap(addresses.objects),
    rules: toMap(rules.objects),
    firewallRules: toMap(firewallRules.objects),
    networks: toMap(networks.objects),
    aclItems: new Map(aclListIds.map((id, at) => [id, aclItems[at] ?? []])),
    members: new Map(members),
    policies: new Map(rules.objects.map(({ id }) => [id, []])),
    unreadable: [],
  });
  if (store.observation === undefined) throw new Error("There is no observation after a look");
  return store.observation;
}

function toMap<T extends { readonly id: string }>(objects: readonly T[]): ReadonlyMap<string, T> {
  return new Map(objects.map((one) => [one.id, one]));
}
