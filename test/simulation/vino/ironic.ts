/**
 * An imagined Ironic: a client of management controllers, which switches machines and says what they boot from.
 *
 * It calls the functions that the listener for Redfish calls, in the process that leads, and hangs up after a minute.
 * @module
 */
import type {
  BootOverrideChange,
  MachineCredentials,
  MachineManagement,
  ManagementAnswer,
} from "../../../lib/cloud/capabilities/machine_management.ts";
import type { PowerAction } from "../../../lib/cloud/capabilities/machine_power.ts";
import type { ApiObject, ObjectAccess } from "../../../lib/simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { hasBmc, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";
import type { ControllerProcess } from "../world/metal_world.ts";

/** What an {@linkcode Ironic} needs of a world. */
interface IronicWorld {
  readonly objects: ObjectAccess;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly replicas: readonly { readonly current: Server | undefined }[];
  readonly overrideJudge: {
    /** Told what a VM is to boot from at its next start, as far as that is certain. */
    notePromise(vmId: string, device?: string): void;
  };
}

/** A process that may lead. */
type Server = Pick<ControllerProcess, "management" | "process">;

/** Something that was asked for, and that may be done from then until then. */
interface Ask {
  readonly id: string;
  readonly sinceMs: number;
  untilMs: number;
}

type Work<T> = (management: MachineManagement, signal: AbortSignal) => Promise<ManagementAnswer<T>>;

const WAY_MS = 3;
const HANG_UP_MS = 60_000;
/** What is begun, and what nobody knows the end of, may happen so much later. */
const BEGUN_MS = 10_000;
const UNCLEAR_MS = 120_000;
const RETRY_MS = 5_000;
const TRIES_MAX = 5;

/** The client. */
export class Ironic {
  readonly #world: IronicWorld;
  readonly #asks: Ask[] = [];
  /** Keys of hosts that it works on: it does one thing at a time with each. */
  readonly #busy = new Set<string>();

  constructor(world: IronicWorld) {
    this.#world = world;
  }

  /** When the first of the things was asked for that may be done now with a VM; `undefined`: there is none. */
  askedSince(vmId: string): number | undefined {
    const nowMs = this.#world.timeline.monotonic();
    const open = this.#asks.find(({ id, untilMs }) => id === vmId && untilMs >= nowMs);
    return open?.sinceMs;
  }

  /** Changes the power of a host, unless it works on it. */
  reset(host: ApiObject, action: PowerAction): void {
    this.#begin(host, () => this.#reset(host, action));
  }

  /** Changes what a host boots from, and a while later its power, if `then` says so. */
  setBoot(
    host: ApiObject,
    change: BootOverrideChange,
    then?: { readonly afterMs: number; readonly action: PowerAction },
  ): void {
    this.#begin(host, async () => {
      const isSet = await this.#setBoot(host, change);
      if (!isSet || then === undefined) return;
      await this.#world.timeline.pass(then.afterMs);
      await this.#reset(host, then.action);
    });
  }

  /** Boots a host from the network once, as at the beginning of each work on it. @param key `namespace/name` */
  deploy(key: string): void {
    const [namespace = "", name = ""] = key.split("/");
    const host = this.#world.objects.get("baremetalhosts", { namespace, name });
    if (host === undefined) return;
    this.#begin(host, async () => {
      const isDone =
        (await this.#insist(() => this.#reset(host, "off"))) &&
        (await this.#insist(() => this.#setBoot(host, { device: "network", duration: "once" })));
      if (isDone) await this.#insist(() => this.#reset(host, "on"));
    });
  }

  /** Asks for the power of any machine, as a client that knows its ID. */
  resetAny(id: string, action: PowerAction): void {
    void this.#ask(id, `${action} of ${id}`, (management, signal) =>
      management.reset(id, action, signal),
    );
  }

  #begin(host: ApiObject, work: () => Promise<unknown>): void {
    const { name } = host.metadata;
    if (!hasBmc(host) || this.#busy.has(name)) return;
    this.#busy.add(name);
    void work().finally(() => this.#busy.delete(name));
  }

  async #insist(work: () => Promise<boolean>): Promise<boolean> {
    for (let left = TRIES_MAX; left > 0; left -= 1) {
      if (await work()) return true;
      await this.#world.timeline.pass(RETRY_MS);
    }
    return false;
  }

  #reset(host: ApiObject, action: PowerAction): Promise<boolean> {
    return this.#askAbout(host, `${action} of`, (management, id, signal) =>
      management.reset(id, action, signal),
    );
  }

  async #setBoot(host: ApiObject, change: BootOverrideChange): Promise<boolean> {
    const { overrideJudge } = this.#world;
    const vmId = toVmId(host);
    overrideJudge.notePromise(vmId);
    const what = `${JSON.stringify(change)} of`;
    const isDone = await this.#askAbout(host, what, (management, id, signal) =>
      management.setBoot(id, change, signal),
    );
    if (isDone && change.duration === "once") overrideJudge.notePromise(vmId, change.device);
    return isDone;
  }

  /** Asks as a client that has signed in. @returns Whether it was done */
  #askAbout(
    host: ApiObject,
    what: string,
    act: (
      management: MachineManagement,
      id: string,
      signal: AbortSignal,
    ) => Promise<ManagementAnswer<void>>,
  ): Promise<boolean> {
    const id = toVmId(host);
    return this.#ask(id, `${what} ${host.metadata.name}`, async (management, signal) => {
      const credentials = this.#readCredentials(host);
      const systems = await management.findSystems(credentials, signal, id);
      if (systems.kind !== "done") return systems;
      if (systems.value.includes(id)) return await act(management, id, signal);
      return { kind: "silent", message: "401" };
    });
  }

  async #ask(id: string, what: string, work: Work<void>): Promise<boolean> {
    const { timeline, trace } = this.#world;
    const ask: Ask = { id, sinceMs: timeline.monotonic(), untilMs: Infinity };
    this.#asks.push(ask);
    trace.note("IRONIC", what);
    const answer = await this.#reach(work);
    const laterMs = answer.kind === "silent" ? UNCLEAR_MS : BEGUN_MS;
    ask.untilMs = timeline.monotonic() + laterMs;
    const said = answer.kind === "done" ? "" : `: ${answer.message}`;
    trace.note("IRONIC", `${what} is ${answer.kind}${said}`);
    return answer.kind === "done";
  }

  /** Calls the process that leads, if there is one. It may be frozen, or die in between. */
  #reach(work: Work<void>): Promise<ManagementAnswer<void>> {
    const { timeline, replicas } = this.#world;
    const one = replicas.flatMap(({ current }) => current ?? []).find(isLeading);
    const { promise, resolve } = Promise.withResolvers<ManagementAnswer<void>>();
    const management = one?.management;
    if (one === undefined || management === undefined) return Promise.resolve(toSilence("503"));
    const hung = new AbortController();
    const cancel = timeline.schedule(HANG_UP_MS, () => {
      hung.abort(new Error("the client hangs up"));
      resolve(toSilence("no answer"));
    });
    const answer = (found: ManagementAnswer<void>): void => {
      cancel();
      resolve(found);
    };
    timeline.schedule(WAY_MS, () =>
      one.process.enter(() => {
        if (!management.isLeading()) return answer(toSilence("503"));
        work(management, hung.signal).then(answer, (error: unknown) =>
          answer(toSilence(String(error))),
        );
      }),
    );
    return promise;
  }

  #readCredentials(host: ApiObject): MachineCredentials {
    const name = stringAt(objectAt(objectAt(host, "spec"), "bmc"), "credentialsName");
    const secret = this.#world.objects.get("secrets", { ...pathOf(host), name });
    const data = secret === undefined ? {} : objectAt(secret, "data");
    const decode = (key: string): string => atob(stringAt(data, key));
    return { username: decode("username"), password: decode("password") };
  }
}

/** The VM whose management controller a host has. */
export function toVmId(host: ApiObject): string {
  const address = stringAt(objectAt(objectAt(host, "spec"), "bmc"), "address");
  return address.split("/").at(-1) ?? "";
}

function isLeading({ management }: Server): boolean {
  return management?.isLeading() === true;
}

function toSilence(message: string): ManagementAnswer<never> {
  return { kind: "silent", message };
}
