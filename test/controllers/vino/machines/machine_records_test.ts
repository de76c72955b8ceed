/**
 * Records of machines in the status of a Vino.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { MachineRecords } from "../../../../lib/controllers/vino/machines/machine_records.ts";
import type {
  Vino,
  VinoMachine,
  VinoStatus,
} from "../../../../lib/controllers/vino/resource/vino.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toEntry } from "../../../support/vino/known.ts";

const { signal } = new AbortController();

/** An API server with one Vino, and a cache that may be old. */
class Server {
  vino: Vino;
  cached: Vino;
  patches = 0;
  reads = 0;
  /** Called before each patch. */
  onPatch: () => Promise<void> | void = () => undefined;

  constructor(machines: readonly VinoMachine[] = []) {
    this.vino = {
      metadata: { name: "edge", uid: "u-1", resourceVersion: "1" },
      status: { machines },
    };
    this.cached = this.vino;
  }

  edit(change: (vino: Vino) => Vino): void {
    const resourceVersion = String(Number(this.vino.metadata.resourceVersion) + 1);
    const changed = change(this.vino);
    this.vino = { ...changed, metadata: { ...changed.metadata, resourceVersion } };
  }

  open(): MachineRecords {
    return new MachineRecords(
      this.cached,
      {
        find: () => this.cached,
        read: async () => {
          this.reads += 1;
          this.cached = this.vino;
          return this.vino;
        },
        patch: async (vino, status) => await this.#patch(vino, status),
      },
      signal,
    );
  }

  get records(): string[] {
    const { machines = [] } = this.vino.status ?? {};
    return machines.map(({ name, state, record }) => `${name.slice(-8)} ${state} ${record}`);
  }

  async #patch(vino: Vino, status: VinoStatus): Promise<Vino> {
    this.patches += 1;
    await this.onPatch();
    if (vino.metadata.resourceVersion !== this.vino.metadata.resourceVersion) {
      throw new KubeError("conflict", "modified");
    }
    this.edit((one) => ({ ...one, status: { ...one.status, ...status } }));
    this.cached = this.vino;
    return this.vino;
  }
}

const [A, B] = [toEntry("worker", 0), toEntry("worker", 1)].map(({ name, role, index }) => ({
  name,
  role,
  index,
  host: "h1",
}));
if (!A || !B) throw new Error("two machines");

describe("MachineRecords", () => {
  test("keeps a text in the status, and removes it", async () => {
    const server = new Server([toEntry("worker", 0, { state: "Creating", machineId: "x" })]);
    const records = server.open();
    await records.record(A).save("task-1", signal);
    expect(server.records).toEqual(["worker-0 Creating task-1"]);
    expect(records.record(A).text).toBe("task-1");
    expect(server.vino.status?.machines?.[0]).toMatchObject({ machineId: "x" });
    await records.record(A).save(undefined, signal);
    expect(server.records).toEqual(["worker-0 Creating undefined"]);
    expect([...records.texts]).toEqual([]);
  });

  test("adds a machine that the status does not have, with its host", async () => {
    const server = new Server();
    await server.open().record(A).save("task-1", signal);
    expect(server.vino.status?.machines).toEqual([{ ...A, state: "Creating", record: "task-1" }]);
  });

  test("begins with what the status has", () => {
    expect(new Server([toEntry("worker", 0, { record: "old" })]).open().record(A).text).toBe("old");
  });

  test("writes once for records that are saved at the same time, and once for those that come meanwhile", async () => {
    const server = new Server();
    const records = server.open();
    const later: Promise<void>[] = [];
    server.onPatch = () => {
      if (server.patches > 1) return;
      later.push(records.record(A).save("a-2", signal), records.record(B).save("b-2", signal));
    };
    await Promise.all([records.record(A).save("a", signal), records.record(B).save("b", signal)]);
    await Promise.all(later);
    expect(server.patches).toBe(2);
    expect(server.records).toEqual(["worker-0 Creating a-2", "worker-1 Creating b-2"]);
  });

  test("resolves only when the server has the text", async () => {
    const server = new Server();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.onPatch = () => promise;
    const saving = server.open().record(A).save("a", signal);
    const first = await Promise.race([saving, new Promise((done) => setImmediate(done, "waits"))]);
    expect(first).toBe("waits");
    resolve();
    await saving;
    expect(server.records).toEqual(["worker-0 Creating a"]);
  });

  test("keeps what others wrote since, also records that it never saw", async () => {
    const server = new Server();
    const records = server.open();
    server.edit((vino) => ({
      ...vino,
      status: {
        machines: [toEntry("worker", 1, { state: "Creating", record: "of another process" })],
      },
    }));
    await records.record(A).save("a", signal);
    expect(server.records).toEqual(["worker-1 Creating of another process", "worker-0 Creating a"]);
    expect(server.reads).toBe(1);
  });

  test("does not write to another Vino of the same name", async () => {
    const server = new Server();
    const records = server.open();
    server.edit((vino) => ({ ...vino, metadata: { ...vino.metadata, uid: "u-2" } }));
    await expect(records.record(A).save("a", signal)).rejects.toThrow("or another one");
    expect(server.records).toEqual([]);
  });

  test("gives up when others are always quicker, and the record stays as it was", async () => {
    const server = new Server();
    const records = server.open();
    server.onPatch = () => server.edit((vino) => vino);
    await expect(records.record(A).save("a", signal)).rejects.toThrow("modified");
    expect(records.record(A).text).toBeUndefined();
    expect(server.patches).toBe(8);
  });

  test("refuses more than 1 KiB, and an aborted save", async () => {
    const records = new Server().open();
    await expect(records.record(A).save("ü".repeat(513), signal)).rejects.toThrow("1 KiB");
    const aborted = AbortSignal.abort(new Error("over"));
    await expect(records.record(A).save("a", aborted)).rejects.toThrow("over");
  });
});
