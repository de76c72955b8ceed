/**
 * A world made by hand in which everything is right, for tests that make one thing in it wrong.
 * @module
 */
import { expect } from "bun:test";
import type { ApiObject, Json, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { isArray, isObject, objectAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { toVbd, toVdi } from "../../../../lib/simulator/xenorchestra/world/storage.ts";
import { putAttachment } from "../../../../lib/simulator/xenorchestra/writes/disks.ts";
import type { Order } from "../orders.ts";
import { METAL, VinoWorld } from "../world.ts";
import { longTest } from "../../../support/long_tests.ts";

/** What the Vino of the world asks for. */
const ORDER: Order = {
  count: 2,
  isPerHost: false,
  isNetboot: false,
  cpus: 2,
  memory: "4Gi",
  rootGib: 20,
  hasData: false,
  isWide: false,
  deletes: true,
  hosts: { names: [], tags: [] },
};
/** The Vino. */
export const VINO: { readonly namespace: string; readonly name: string } = {
  namespace: METAL,
  name: "core",
};
const READY = "vino:ready=1";
/** Longer than a call of a hypervisor. */
const CALL_MS = 1_000;
/** The process that is said to have done something. No process runs. */
const PROCESS = "a1";

/** Something that happens in a right world. */
export type Act = (right: RightWorld) => unknown;
/** What happens in a right world, one after the other, and parts of all that is said about it; none if it may. */
export type Case = readonly [what: string, acts: Act | readonly Act[], ...said: string[]];

/** Tests what is said in the end, names without the UID. @param list Who says it @default {all judges} */
export function testCases(
  title: string,
  cases: readonly Case[],
  list: (world: VinoWorld) => readonly string[] = ({ violations }) => violations,
): void {
  longTest.each(cases.map(([what, acts, ...said]) => ({ what, acts: [acts].flat(), said })))(
    `${title} $what`,
    async ({ acts, said }) => {
      await using right = await RightWorld.create();
      const prefix = right.toName(0).replace("worker-0", "");
      for (const act of acts) await act(right);
      right.world.cloudJudge.checkForeign();
      const found = list(right.world).map((one) => one.replaceAll(prefix, "vino-"));
      expect(found).toEqual(said.map((one) => expect.stringContaining(one)));
    },
  );
}

/** Lets time go on. */
export function pass(ms: number): Act {
  return ({ world }) => world.timeline.advance(ms);
}

/** The Vino asks for something else. */
export function want(more: Partial<Order>): Act {
  return ({ world }) => world.order(VINO.name, { ...ORDER, ...more });
}

/** Something uses the host of a VM. */
export function use(index: number): Act {
  return (right) => right.use(index);
}

/** A hypervisor carries out a call about a VM. */
export function call(method: string, index: number = 0): Act {
  return (right) => right.call(method, right.vm(index).id, right.toName(index));
}

/** A VM is made. @param tags By default it is complete */
export function make(index: number, tags?: readonly string[]): Act {
  return (right) => right.makeVm(right.toName(index), tags);
}

/** A VM gets other fields. */
export function set(index: number, fields: object): Act {
  return (right) => Object.assign(right.vm(index), fields);
}

/** A VM is placed on the second hypervisor. */
export function place(index: number): Act {
  return (right) => {
    right.vm(index)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
  };
}

/** The Vino `core` with two complete VMs, their hosts and Secrets. No process runs: whatever happens, a test did it. */
export class RightWorld implements AsyncDisposable {
  readonly world: VinoWorld = new VinoWorld(1, 0);
  readonly #life = new AbortController();

  /** Makes it. */
  static async create(): Promise<RightWorld> {
    const right = new RightWorld();
    right.world.order(VINO.name, ORDER);
    for (const index of [0, 1]) {
      await right.makeVm(right.toName(index));
      right.#publish(index);
    }
    right.report("Ready");
    return right;
  }

  /** The beginning of the names of the VMs. */
  get uid(): string {
    return String(this.vino.metadata["uid"]);
  }

  get vino(): ApiObject {
    const vino = this.world.vinoes.find(({ metadata }) => metadata.name === VINO.name);
    if (vino === undefined) throw new Error("There is no Vino");
    return vino;
  }

  /** The name of one of the VMs in the cloud. */
  toName(index: number): string {
    return `vino-${this.uid.slice(0, 8)}-worker-${index}`;
  }

  /** The VM that was made with a name. */
  vm(index: number): XoRecord {
    const { machines } = this.world.cloudJudge;
    const found = machines.list().find(({ birth }) => birth.name === this.toName(index));
    if (found === undefined) throw new Error(`There is no VM ${index}`);
    return found.vm;
  }

  /** A disk that nothing uses. Returns its ID. */
  putDisk(name: string): string {
    const { cloud, site } = this.world;
    const sr = cloud.state.all("srs").get(site.srIds.local);
    if (sr === undefined) throw new Error("There is no storage");
    const id = cloud.state.nextId("vdi");
    cloud.state.put("vdis", toVdi({ id, name, sr, sizeBytes: 1 }));
    return id;
  }

  /** Makes a VM as a hypervisor does, complete by default. Returns its ID. */
  async makeVm(name: string, tags: readonly string[] = [READY]): Promise<string> {
    const { cloud, site } = this.world;
    const { paris: poolId } = site.poolIds;
    const id = cloud.state.nextId("vm");
    cloud.state.addVm({ id, name, poolId, hostId: site.hostIds["xcp-par-1"], tags });
    this.#describe(name);
    await this.call("VM.set_tags", id, name);
    return id;
  }

  /** Attaches a disk of ours to a VM. Returns its ID. */
  attachDisk(index: number): string {
    const { state } = this.world.cloud;
    const vdi = state.all("vdis").get(this.putDisk(`${this.toName(index)}.data`));
    if (vdi === undefined) throw new Error("There is no disk");
    const id = state.nextId("vbd");
    putAttachment(state, toVbd({ id, vm: this.vm(index), vdi, position: "1" }));
    return vdi.id;
  }

  /** Something uses the host of a VM. */
  use(index: number): void {
    const path = { namespace: METAL, name: `${VINO.name}-worker-${index}` };
    const consumerRef = { kind: "Metal3Machine", name: "m", namespace: METAL };
    this.world.objects.patch("baremetalhosts", path, { spec: { consumerRef } });
  }

  /** Lets a hypervisor carry out a call about a VM. */
  async call(
    method: string,
    id: string,
    name: string,
    effect: () => void = () => undefined,
  ): Promise<void> {
    const { cloud, site, timeline } = this.world;
    const operation = { method, poolId: site.poolIds.paris, id, name };
    const called = cloud.hypervisor.call(operation, [effect], this.#life.signal);
    await Promise.all([called, timeline.advance(CALL_MS)]);
  }

  /** Sends a request to the API server as a process does. `body`: a merge patch, or what is created. */
  async ask(method: "DELETE" | "PATCH" | "POST", path: string, body?: JsonObject): Promise<void> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const outcome = await this.world.server.answer(
      PROCESS,
      new Request(`http://memory${path}`, {
        method,
        headers: { "content-type": type },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    if (outcome.kind !== "reply" || !outcome.response.ok) throw new Error(`${path} is refused`);
  }

  /** Writes the condition Ready for the newest spec. */
  report(type: string, status: string = "True"): void {
    const { generation = null } = this.vino.metadata as { generation?: Json };
    const reason = "ReconciliationSucceeded";
    const conditions = [{ type, status, reason, observedGeneration: generation }];
    const path = { ...VINO, subresource: "status" };
    this.world.objects.patch("vinoes", path, { status: { conditions } });
  }

  /** The conditions of the Vino. */
  listConditions(): readonly JsonObject[] {
    const { conditions = [] } = objectAt(this.vino, "status");
    return isArray(conditions) ? conditions.filter(isObject) : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error("the test is over"));
    await this.world.leave();
  }

  /** Writes the VinoMachine of a machine of the Vino. */
  #describe(machineName: string): void {
    const [role = "", index = ""] = machineName.split("-").slice(2);
    const path = { namespace: METAL, name: `${VINO.name}-${role}-${index}` };
    const { objects } = this.world;
    if (!machineName.startsWith("vino-") || objects.get("vinomachines", path)) return;
    const spec = { vinoName: VINO.name, vinoUid: this.uid, machineName };
    objects.create("vinomachines", { metadata: path, spec });
  }

  #publish(index: number): void {
    const { objects } = this.world;
    const path = { namespace: METAL, name: `${VINO.name}-worker-${index}` };
    objects.create("baremetalhosts", {
      metadata: {
        ...path,
        labels: { "landfall.dev/vino-uid": this.uid },
        annotations: { "landfall.dev/machine-id": this.vm(index).id },
      },
      spec: { online: true },
    });
    objects.create("secrets", { metadata: { ...path, name: `${path.name}-network-data` } });
  }
}
