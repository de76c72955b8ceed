/**
 * Reconciles of one Vino, one by one: what a process may not do while it knows too little.
 * @module
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { RefusedMachineError } from "../../../lib/cloud/capabilities/refused_errors.ts";
import { IpPoolError } from "../../../lib/controllers/vino/addresses/ip_pools.ts";
import { FINALIZER } from "../../../lib/controllers/vino/words.ts";
import { LeadershipLostError } from "../../../lib/core/fence.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { type DoubleMachineStep, POOL } from "../../support/vino/machines_double.ts";
import { toEntry, toObject, VINO_OWNER } from "../../support/vino/known.ts";
import { settle } from "../../support/manual_clock.ts";
import { ReconcilerRig, toVinoSpec } from "../../support/vino/reconciler_rig.ts";
import { longTest } from "../../support/long_tests.ts";

// Twenty minutes of a clock have many turns.
setDefaultTimeout(20_000);

/** Starts with machines that are made and published. */
async function startReady(
  count: number,
  policy: "Delete" | "Retain" = "Delete",
): Promise<ReconcilerRig> {
  const rig = new ReconcilerRig(toVinoSpec(count, { deletionPolicy: policy }));
  await rig.pass();
  await rig.pass();
  rig.cloud.calls.length = 0;
  rig.writes.length = 0;
  return rig;
}

describe("a Vino that is satisfied", () => {
  test("asks nothing and writes nothing", async () => {
    const rig = await startReady(3);
    for (let at = 0; at < 3; at += 1) {
      await rig.refresh();
      expect(await rig.reconcile()).toEqual({});
    }
    expect(rig.cloud.calls).toEqual([]);
    expect(rig.writes).toEqual([]);
  });

  test("asks nothing and writes nothing after a restart either", async () => {
    const rig = await startReady(3);
    rig.restart();
    await rig.reconcile();
    expect(rig.cloud.calls).toEqual([]);
    expect(rig.writes).toEqual([]);
  });
});

test("addresses of a machine that is neither wanted nor there are taken back, after a look", async () => {
  const rig = await startReady(1);
  rig.holders = ["vino-1b4e28ba-worker-0", "vino-1b4e28ba-worker-9", "vino-00000000-worker-9"];
  await rig.reconcile();
  expect(rig.cloud.calls).toEqual(["look worker-9"]);
  expect(rig.released).toEqual(["vino-1b4e28ba-worker-9"]);
});

describe("a cache that is behind", () => {
  test("makes nothing for a spec that was changed", async () => {
    const rig = new ReconcilerRig(toVinoSpec(3));
    await rig.refresh();
    rig.isWatching = false;
    rig.edit({ spec: toVinoSpec(0) });
    expect(await rig.reconcile()).toEqual({ requeueAfterMs: 2_000 });
    expect(rig.cloud.calls).toEqual([]);
  });

  test("makes nothing for a Vino that is gone, or is another one", async () => {
    for (const uid of [undefined, "another"]) {
      const rig = new ReconcilerRig(toVinoSpec(3));
      await rig.refresh();
      rig.isWatching = false;
      if (uid === undefined) rig.server = undefined;
      else if (rig.server) rig.edit({ metadata: { ...rig.server.metadata, uid } });
      await rig.reconcile();
      expect(rig.cloud.calls).toEqual([]);
    }
  });

  test("removes nothing for a spec that was changed back", async () => {
    const rig = await startReady(3);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    rig.isWatching = false;
    rig.edit({ spec: toVinoSpec(3, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    expect(rig.steps).toEqual([]);
    expect(rig.cloud.world.size).toBe(3);
    expect(rig.hosts.size).toBe(3);
  });

  test("ends no Vino whose spec was changed", async () => {
    const rig = await startReady(0);
    rig.edit({ metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } });
    rig.isWatching = false;
    rig.edit({ spec: toVinoSpec(0, { deletionPolicy: "Delete" }) });
    const before = rig.writes.length;
    expect(await rig.reconcile()).toEqual({ requeueAfterMs: 2_000 });
    expect(rig.writes.length).toBe(before);
  });

  test("does not lose records that another process wrote", async () => {
    const rig = new ReconcilerRig(toVinoSpec(1));
    await rig.refresh();
    const entry = toEntry("worker", 7, { state: "Creating", record: "task-9" });
    rig.objects.set(toObject(entry));
    await rig.reconcile();
    expect(rig.steps).toEqual(["create worker-7", "configure worker-7", "complete worker-7"]);
  });
});

describe("an edit while machines change", () => {
  test("is not reported as done by what was found before it", async () => {
    const rig = await startReady(1);
    rig.onPublish = () => {
      rig.onPublish = () => undefined;
      rig.edit({ spec: toVinoSpec(2) });
    };
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
    expect(rig.claims.filter((one) => one.startsWith("2 True"))).toEqual(["2 True 2/2"]);
  });

  test("reaches machines that no inventory and no record shows yet", async () => {
    const rig = new ReconcilerRig(toVinoSpec(2, { deletionPolicy: "Delete" }));
    rig.cloud.savesRecords = false;
    await rig.refresh();
    rig.cloud.afterStep = ({ kind }) => {
      if (kind !== "configure") return;
      rig.edit({ spec: toVinoSpec(0, { deletionPolicy: "Delete" }) });
      rig.cloud.afterStep = () => undefined;
    };
    await rig.reconcile();
    expect(rig.cloud.world.size).toBe(0);
  });

  test("does not keep a machine that is half removed, but makes another one", async () => {
    const rig = await startReady(2);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    rig.cloud.afterStep = () => {
      rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
      rig.cloud.afterStep = () => undefined;
    };
    await rig.reconcile();
    await rig.pass();
    expect(rig.steps).toEqual(
      [
        "detach worker-1",
        "delete worker-1",
        "create worker-2",
        "configure worker-2",
        "complete worker-2",
      ].toSorted((a, b) => rig.steps.indexOf(a) - rig.steps.indexOf(b)),
    );
    expect([...rig.cloud.world.values()].every(({ disks }) => disks === 1)).toBe(true);
    expect(rig.released).toEqual(["vino-1b4e28ba-worker-1"]);
  });

  test("stops removals when the policy becomes Retain", async () => {
    const rig = await startReady(3);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    rig.cloud.afterStep = () => {
      rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Retain" }) });
      rig.cloud.afterStep = () => undefined;
    };
    await rig.reconcile();
    await rig.reconcile();
    expect(rig.steps).toEqual(["detach worker-2", "detach worker-1"]);
    expect(rig.cloud.world.size).toBe(3);
  });
});

describe("MAC addresses of the cloud", () => {
  test("come from a look at one machine, before anything is made", async () => {
    const rig = new ReconcilerRig(toVinoSpec(2));
    rig.needsMacs = true;
    rig.cloud.macs = [{ mac: "52:54:00:06:07:aa" }];
    await rig.pass();
    expect(rig.cloud.calls.slice(0, 2)).toEqual(["look worker-0", "look worker-0,worker-1"]);
    expect(rig.macs).toEqual(rig.cloud.macs);
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  });

  test("are not chosen while the pool does not answer", async () => {
    const rig = new ReconcilerRig(toVinoSpec(1));
    rig.needsMacs = true;
    await rig.refresh();
    rig.cloud.onLook = () => {
      rig.cloud.pools = [{ ...POOL, isComplete: false }];
    };
    await expect(rig.reconcile()).rejects.toThrow("Cannot choose MAC addresses: pool lyon");
    expect(rig.cloud.world.size).toBe(0);
  });
});

test("a machine that was removed is made again, and not taken from an inventory that began before", async () => {
  const rig = await startReady(2);
  const idOf = (): string | undefined =>
    rig.objects.entries.find(({ index }) => index === 1)?.machineId;
  const before = idOf();
  rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
  await rig.reconcile();
  expect(rig.machines).toEqual(["worker-0 Ready"]);
  rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
  await rig.reconcile();
  expect(rig.steps).toContain("create worker-1");
  expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  expect(idOf()).not.toBe(before);
  expect(rig.claims.filter((one) => one.startsWith("3 True"))).toEqual(["3 True 2/2"]);
});

describe("the fleet limit", () => {
  const blocked = ({ server }: ReconcilerRig): string | undefined =>
    server?.status?.conditions?.find(({ type }) => type === "ContractionBlocked")?.reason;

  test("counts what was removed before a restart", async () => {
    const rig = await startReady(6);
    rig.fleetShare = 0.34;
    for (const count of [5, 4]) {
      rig.edit({ spec: toVinoSpec(count, { deletionPolicy: "Delete" }) });
      await rig.reconcile();
      await rig.pass();
      rig.restart();
    }
    expect(rig.server?.status?.removals).toHaveLength(2);
    rig.edit({ spec: toVinoSpec(3, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    expect(rig.cloud.world.size).toBe(4);
    expect(blocked(rig)).toBe("FleetLimit");
    await rig.clock.advance(600_000);
    await rig.pass();
    expect(rig.cloud.world.size).toBe(3);
    expect(blocked(rig)).toBe("NothingBlocked");
  });

  /** Begins six more machines, and undoes that while they are made. */
  async function undo(isRestarted: boolean): Promise<ReconcilerRig> {
    const rig = await startReady(2);
    rig.fleetShare = 0.34;
    rig.edit({ spec: toVinoSpec(8, { deletionPolicy: "Delete" }) });
    const hold = new AbortController();
    rig.cloud.onStep = ({ kind }) => {
      if (kind === "configure") hold.abort(new Error("held"));
    };
    await rig.reconcile(hold.signal).catch(() => undefined);
    rig.cloud.onStep = () => undefined;
    if (isRestarted) rig.restart();
    rig.events.length = 0;
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    return rig;
  }

  test("does not count machines that were never complete", async () => {
    const rig = await undo(false);
    expect([rig.cloud.world.size, blocked(rig)]).toEqual([2, "NothingBlocked"]);
    expect(rig.server?.status?.removals ?? []).toEqual([]);
    expect(rig.events).not.toContain("CloudUnreachable");
  });

  test("does not count machines whose records are saved while their Vino is reconciled", async () => {
    const rig = await startReady(2);
    rig.fleetShare = 0.34;
    const [saved, step] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rig.objects.onWrite = (what) => (what.startsWith("create") ? saved.promise : undefined);
    rig.cloud.onStep = ({ kind }) => (kind === "configure" ? step.promise : undefined);
    rig.edit({ spec: toVinoSpec(8, { deletionPolicy: "Delete" }) });
    await using _ = rig.run();
    await rig.clock.advance(6_000);
    saved.resolve();
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    await rig.clock.advance(60_000);
    expect([rig.cloud.world.size, blocked(rig)]).toEqual([2, "NothingBlocked"]);
    step.resolve();
  });

  test("counts machines of which a restart forgot that, and does not call the cloud silent", async () => {
    const rig = await undo(true);
    expect([rig.cloud.world.size, blocked(rig)]).toEqual([8, "FleetLimit"]);
    expect(rig.machines).toContain("worker-7 Unknown");
    expect(rig.events).not.toContain("CloudUnreachable");
  });

  test("forgets in the status what was removed before its window", async () => {
    const rig = await startReady(2);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    await rig.clock.advance(600_001);
    await rig.reconcile();
    expect(rig.server?.status?.removals).toEqual([]);
  });
});

test("a machine in another pool than the spec wants stays, and differs", async () => {
  const rig = new ReconcilerRig(toVinoSpec(1, { pool: POOL.name }));
  rig.cloud.pools = [POOL, { id: "pool-nice", name: "nice", isComplete: true }];
  await rig.pass();
  rig.edit({ spec: toVinoSpec(1, { pool: "nice" }) });
  await rig.pass();
  expect(rig.machines).toEqual(["worker-0 Ready"]);
  const differs = rig.server?.status?.conditions?.find(({ type }) => type === "MachinesDiffer");
  expect(`${differs?.status} ${differs?.reason}`).toBe("True PersonNeeded");
  expect(differs?.message).toContain("worker-0 is in pool lyon, but xenOrchestra.pool wants nice");
  expect(rig.events).toContain("MachineDiffers");
});

test("addresses that a user removed from an IPPool are in one Warning", async () => {
  const rig = await startReady(1);
  rig.restored = [{ pool: "ippool-oam", ip: "192.0.2.10", isPoolNew: true }];
  await rig.reconcile();
  await rig.reconcile();
  expect(rig.events.filter((one) => one === "IPPoolVanished")).toHaveLength(1);
});

describe("IPPools that Kubernetes refuses", () => {
  const failure = new IpPoolError("namespace nosuch does not exist");

  test("are in the status and in one Event, and the work is tried again", async () => {
    const rig = await startReady(1);
    rig.addressFailure = failure;
    rig.edit({ spec: toVinoSpec(2) });
    await expect(rig.reconcile()).rejects.toBe(failure);
    await expect(rig.reconcile()).rejects.toBe(failure);
    expect(rig.writes).toEqual(["status"]);
    expect(rig.events.filter((one) => one === "IPPoolFailure")).toHaveLength(1);
    expect(rig.server?.status?.conditions?.slice(0, 2)).toMatchObject([
      { type: "Ready", reason: "IPPoolFailure", message: failure.message },
      { type: "MachinesReady", reason: "IPPoolFailure", message: failure.message },
    ]);
    rig.addressFailure = undefined;
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  });

  test("keep a Vino that is deleted, whatever its policy", async () => {
    for (const policy of ["Delete", "Retain"] as const) {
      const rig = await startReady(1, policy);
      rig.addressFailure = failure;
      if (rig.server) {
        const deletionTimestamp = "2026-01-01T00:00:00Z";
        rig.edit({ metadata: { ...rig.server.metadata, deletionTimestamp } });
      }
      await expect(rig.reconcile()).rejects.toBe(failure);
      await rig.clock.advance(3_600_000);
      await expect(rig.reconcile()).rejects.toBe(failure);
      expect(rig.server?.metadata.finalizers).toEqual([FINALIZER]);
      expect(rig.server?.status?.conditions?.slice(0, 2)).toMatchObject([
        { reason: "UnableToDecommission", message: failure.message },
        { reason: "IPPoolFailure", message: failure.message },
      ]);
    }
  });
});

test("a right that is missing is in the status and in one Event, and the work is tried again", async () => {
  const rig = await startReady(1);
  const answer =
    'secrets "bmc" is forbidden: User "landfall" cannot get resource "secrets" in API group "" ' +
    'in the namespace "metal"';
  const failure = new KubeError("forbidden", answer);
  rig.addressFailure = failure;
  rig.edit({ spec: toVinoSpec(2) });
  await expect(rig.reconcile()).rejects.toBe(failure);
  await expect(rig.reconcile()).rejects.toBe(failure);
  expect(rig.events.filter((one) => one === "Forbidden")).toHaveLength(1);
  const message =
    `${answer}. To let Landfall work in namespace metal, bind its ClusterRole for tenants or hosts there: ` +
    "rbac.tenantNamespaces or rbac.hostNamespaces of the chart";
  expect(rig.server?.status?.conditions?.slice(0, 2)).toMatchObject([
    { type: "Ready", reason: "Forbidden", message },
    { type: "MachinesReady", reason: "Forbidden", message },
  ]);
  rig.addressFailure = undefined;
  await rig.reconcile();
  expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
});

test("a VinoMachine that something deletes says why it stays, also while the spec cannot be used", async () => {
  for (const spec of [toVinoSpec(1), { nodes: [{ name: "" }] }]) {
    const rig = await startReady(1);
    rig.edit({ spec });
    const [object] = rig.objects.server.values();
    if (object === undefined) throw new Error("there is an object");
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    rig.objects.set({ ...object, metadata: { ...object.metadata, deletionTimestamp } });
    await rig.reconcile();
    expect(rig.events.filter((one) => one === "DeletionWaits")).toHaveLength(1);
  }
});

describe("a VinoMachine that Kubernetes refuses", () => {
  /** @returns The Vino's conditions of machines after each try */
  async function refuse(what: string, error: Error, rig: ReconcilerRig): Promise<string[]> {
    rig.objects.onWrite = (write) => {
      if (write === what) throw error;
    };
    const said: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      // The end of a Vino waits for each object.
      await rig
        .reconcile()
        .catch((thrown: Error) => expect(thrown.message).toContain(error.message));
      const [ready, machines] = rig.server?.status?.conditions ?? [];
      said.push(`${ready?.reason} ${machines?.reason}: ${machines?.message}`);
      await rig.clock.advance(10_000);
    }
    return said;
  }

  const INVALID = new KubeError("invalid", "422 Invalid: too many");
  const WORD = "VinoMachineFailure";
  const REFUSED = "The API server refuses VinoMachine edge-worker-1";
  const SAID = `${WORD} ${WORD}: 2 of 3 machines are complete. ${REFUSED}: 422 Invalid: too many`;

  test.each(["create edge-worker-1", "status edge-worker-1"])(
    "at %s holds only its machine, and is named in the status and in one Event",
    async (what) => {
      const rig = await startReady(1);
      rig.edit({ spec: toVinoSpec(3) });
      expect(await refuse(what, INVALID, rig)).toEqual([SAID, SAID, SAID]);
      expect(rig.machines).toContain("worker-2 Ready");
      expect(rig.events.filter((one) => one === WORD)).toHaveLength(1);
      rig.objects.onWrite = () => undefined;
      await rig.clock.advance(60_000);
      await rig.reconcile();
      expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready", "worker-2 Ready"]);
      expect(rig.server?.status?.conditions?.[0]?.status).toBe("True");
    },
  );

  test("is said no more when the spec does not want its machine", async () => {
    const rig = await startReady(1);
    rig.edit({ spec: toVinoSpec(2) });
    await refuse("create edge-worker-1", INVALID, rig);
    rig.edit({ spec: toVinoSpec(1) });
    await rig.reconcile();
    expect(rig.server?.status?.conditions?.[0]?.status).toBe("True");
  });

  test("for want of a right stops all machines, because it is about all", async () => {
    const rig = await startReady(1);
    rig.edit({ spec: toVinoSpec(3) });
    const message =
      'User "landfall" cannot create resource "vinomachines" in the namespace "metal"';
    const error = new KubeError("forbidden", message);
    const [first] = await refuse("create edge-worker-1", error, rig);
    expect(first).toStartWith("Forbidden Forbidden: ");
    const other = new KubeError("forbidden", "a webhook denied the request");
    const [, last] = await refuse("create edge-worker-1", other, rig);
    expect(last).toContain(`${WORD}: 2 of 3 machines are complete. ${REFUSED}: a webhook`);
  });

  test("is tried again less and less often", async () => {
    const rig = await startReady(1);
    rig.edit({ spec: toVinoSpec(2) });
    let tries = 0;
    rig.objects.onWrite = (write) => {
      if (write !== "create edge-worker-1") return;
      tries += 1;
      throw INVALID;
    };
    for (let second = 0; second < 600; second += 1) {
      await rig.reconcile();
      await rig.clock.advance(1_000);
    }
    expect(tries).toBeWithin(8, 20);
  });

  test.each(["conflict", "unavailable", "alreadyExists"] as const)(
    "with %s is named when that goes on",
    async (kind) => {
      const rig = await startReady(1);
      rig.edit({ spec: toVinoSpec(3) });
      const [first, , last] = await refuse("create edge-worker-1", new KubeError(kind, "no"), rig);
      expect(first).toStartWith("Progressing Progressing: 2 of 3 machines are complete");
      expect(last).toBe(`${WORD} ${WORD}: 2 of 3 machines are complete. ${REFUSED}: no`);
    },
  );

  test("stops the end of a Vino, and is named", async () => {
    const rig = await startReady(2);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    if (rig.server) rig.edit({ metadata: { ...rig.server.metadata, deletionTimestamp } });
    const said = await refuse("spec edge-worker-1", INVALID, rig);
    const refused = "the API server refuses VinoMachine edge-worker-1: 422 Invalid: too many";
    expect(said[2]).toBe(`UnableToDecommission ${WORD}: ${refused}`);
    expect([...rig.objects.server.keys()]).toEqual(["edge-worker-1"]);
    expect(rig.events).toContain(WORD);
  });
});

describe("a silent cloud", () => {
  /** Notes what each status says of machines from the first one on that says that the cloud is silent. */
  function followSilence(rig: ReconcilerRig): Set<string | undefined> {
    const said = new Set<string | undefined>();
    rig.onStatus = ({ conditions }) => {
      const found = conditions?.find(({ type }) => type === "MachinesReady")?.reason;
      if (said.size > 0 || found === "CloudUnreachable") said.add(found);
    };
    return said;
  }

  test.each(["create", "configure", "complete"] as const)(
    "at %s is said, and nothing is lost",
    async (kind) => {
      const rig = new ReconcilerRig(toVinoSpec(2));
      await rig.refresh();
      rig.cloud.onStep = (step) => {
        if (step.kind === kind) throw new CloudError("unreachable", "no answer");
      };
      await expect(rig.reconcile()).rejects.toThrow("no answer");
      const ready = rig.server?.status?.conditions?.find(({ type }) => type === "Ready");
      expect(`${ready?.reason}: ${ready?.message}`).toBe("CloudUnreachable: no answer");
      const { length } = rig.writes;
      await expect(rig.reconcile()).rejects.toThrow("no answer");
      // Another try has nothing else to say.
      expect(rig.writes).toHaveLength(length);
      rig.cloud.onStep = () => undefined;
      await rig.reconcile();
      expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
    },
  );

  test("gets one Event when it begins, and one when it ends", async () => {
    const rig = await startReady(1);
    rig.events.length = 0;
    rig.edit({ spec: toVinoSpec(2) });
    rig.cloud.onLook = () => {
      throw new CloudError("unreachable", "no answer");
    };
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(rig.reconcile()).rejects.toThrow("no answer");
      await rig.clock.advance(600_000);
    }
    rig.restart();
    await expect(rig.reconcile()).rejects.toThrow("no answer");
    expect(rig.events).toEqual(["CloudUnreachable"]);
    rig.cloud.onLook = () => undefined;
    await rig.reconcile();
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
    const isCloud = (reason: string): boolean => reason.startsWith("Cloud");
    expect(rig.events.filter(isCloud)).toEqual(["CloudUnreachable", "CloudReachable"]);
  });

  test.each([
    ["at once", 0, false],
    ["after a while", 20_000, false],
    ["at once, while another machine is in a step", 0, true],
  ])(
    "that fails looks %s is asked less and less often, and said once",
    async (_title, ms, isHeld) => {
      const rig = await startReady(1);
      const held = Promise.withResolvers<void>();
      rig.cloud.onStep = ({ name }) =>
        isHeld && name.endsWith("worker-1") ? held.promise : undefined;
      rig.edit({ spec: toVinoSpec(2) });
      if (isHeld) {
        void rig.reconcile();
        await rig.clock.advance(1);
        rig.edit({ spec: toVinoSpec(3) });
      }
      rig.events.length = 0;
      rig.cloud.onLook = async () => {
        await rig.clock.sleep(ms, new AbortController().signal);
        throw new CloudError("unreachable", "no answer");
      };
      rig.cloud.calls.length = 0;
      const said = followSilence(rig);
      await using _ = rig.run();
      await rig.clock.advance(600_000);
      expect(rig.cloud.calls.length).toBeWithin(3, 15);
      expect([...said]).toEqual(["CloudUnreachable"]);
      expect(rig.events).toEqual(["CloudUnreachable"]);
      rig.cloud.onLook = () => undefined;
      await rig.clock.advance(600_000);
      // What was made says so, also while another machine is in its step.
      expect(rig.events).toContain("CloudReachable");
      expect(rig.machines.at(-1)).toEndWith("Ready");
      held.resolve();
      await rig.clock.advance(600_000);
      expect(rig.machines.filter((one) => !one.endsWith("Ready"))).toEqual([]);
    },
  );

  test("that answers the Vino, but not its machines, is silent", async () => {
    const rig = await startReady(1);
    rig.needsMacs = true;
    rig.edit({ spec: toVinoSpec(2) });
    let isDeaf = true;
    rig.cloud.onLook = async () => {
      if (!isDeaf && rig.cloud.calls.at(-1) === "look worker-0") return;
      isDeaf = false;
      await rig.clock.sleep(20_000, new AbortController().signal);
      throw new CloudError("unreachable", "no answer");
    };
    const said = followSilence(rig);
    await using _ = rig.run();
    await rig.clock.advance(100_000);
    expect([...said]).toEqual(["CloudUnreachable"]);
  });

  test("that fails looks while the Vino is reconciled does not change back and forth", async () => {
    const rig = await startReady(1);
    rig.edit({ spec: toVinoSpec(2) });
    rig.events.length = 0;
    let look: PromiseWithResolvers<void> | undefined;
    rig.cloud.onLook = async () => {
      if (rig.events.length === 0) throw new CloudError("unreachable", "no answer");
      look = Promise.withResolvers<void>();
      await look.promise;
    };
    rig.onDecide = async () => {
      look?.reject(new CloudError("unreachable", "no answer"));
      look = undefined;
      await settle();
    };
    const said = followSilence(rig);
    await using _ = rig.run();
    await rig.clock.advance(600_000);
    expect(rig.cloud.calls.length).toBeWithin(3, 15);
    expect([...said]).toEqual(["CloudUnreachable"]);
    expect(rig.events).toEqual(["CloudUnreachable"]);
  });

  test("that lost a pool ends no removal, and frees no address", async () => {
    const rig = await startReady(3);
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    rig.cloud.onLook = () => {
      rig.cloud.pools = [{ ...POOL, isComplete: false }];
      rig.cloud.world.clear();
    };
    await rig.reconcile();
    expect(rig.released).toEqual([]);
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready", "worker-2 Removing"]);
  });

  test("that lost a pool for good holds a deleted Vino until a person says so", async () => {
    const rig = await startReady(2);
    rig.cloud.world.clear();
    const problem = {
      reason: "PoolNotConnected",
      message: "pool lyon is not shown",
      kind: "retry",
      missingPoolId: POOL.id,
    } as const;
    const unknown = { state: "Unknown", steps: [], problems: [problem], parts: [] } as const;
    rig.cloud.planRemoval = (view) => ({ ...unknown, needsLook: !view.isForChange });
    await rig.refresh();
    rig.edit({ metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await rig.reconcile();
    const ready = rig.server?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toEndWith(
      "vino edge --namespace=metal --overwrite landfall.dev/gone-pools=pool-1",
    );
    const annotate = (pools: string): void =>
      rig.edit({ metadata: { name: "edge", annotations: { "landfall.dev/gone-pools": pools } } });
    annotate("pool-2");
    await rig.clock.advance(60_000);
    await rig.reconcile();
    const wrong = rig.server?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(wrong?.message).toContain(
      'landfall.dev/gone-pools is "pool-2", without the ID of that pool',
    );
    expect(rig.machines).toEqual(["worker-0 Unknown", "worker-1 Unknown"]);
    expect(rig.released).toEqual([]);
    annotate("pool-2, pool-1");
    await rig.reconcile();
    expect(rig.server).toBeUndefined();
    expect(rig.released).toHaveLength(2);
    expect(rig.events).toContain("MachineForgotten");
  });

  test("before the first inventory changes nothing", async () => {
    const rig = new ReconcilerRig(toVinoSpec(2));
    await expect(rig.reconcile()).rejects.toThrow("no inventory");
    expect(rig.cloud.calls).toEqual([]);
  });

  test("stops a deletion, and says so", async () => {
    const rig = await startReady(2);
    rig.cloud.failure = new CloudError("unreachable", "no answer");
    rig.edit({ metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await expect(rig.reconcile()).rejects.toThrow("no answer");
    const ready = rig.server?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.reason).toBe("UnableToDecommission");
    rig.cloud.failure = undefined;
    await rig.reconcile();
    expect(rig.server).toBeUndefined();
    expect(rig.cloud.world.size).toBe(0);
  });
});

describe("a deleted Vino that retains", () => {
  const DELETED = { metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const ready = (rig: ReconcilerRig): string => {
    const found = rig.server?.status?.conditions?.find(({ type }) => type === "Ready");
    return `${found?.reason}: ${found?.message}`;
  };

  test("ends without a question to the cloud, and names what stays", async () => {
    const rig = await startReady(2, "Retain");
    rig.cloud.failure = new CloudError("unreachable", "no answer");
    rig.edit(DELETED);
    rig.events.length = 0;
    await rig.reconcile();
    expect(rig.server).toBeUndefined();
    expect(rig.hosts.size).toBe(0);
    expect(rig.cloud.world.size).toBe(2);
    expect(rig.released).toEqual([]);
    expect(rig.events).toEqual(["MachineKept"]);
  });

  test("waits ten minutes for a cloud that does not answer, and ends without it", async () => {
    const rig = new ReconcilerRig(toVinoSpec(2, { deletionPolicy: "Retain" }));
    for (const index of [0, 1]) {
      rig.objects.set(toObject(toEntry("worker", index, { machineId: `vm-${index}` })));
      rig.hosts.add(`edge-worker-${index}`);
    }
    rig.holders = ["vino-1b4e28ba-worker-9"];
    rig.edit(DELETED);
    await expect(rig.reconcile()).rejects.toThrow("no inventory");
    expect(ready(rig)).toMatch(/^UnableToDecommission: .*no inventory.* Landfall waits 10 minutes/);
    await rig.clock.advance(590_000);
    await expect(rig.reconcile()).rejects.toThrow("no inventory");
    expect(rig.hosts.size).toBe(2);
    await rig.clock.advance(10_000);
    await rig.reconcile();
    expect(rig.server).toBeUndefined();
    expect(rig.hosts.size).toBe(0);
    // Without the cloud it is not known which are free.
    expect(rig.released).toEqual([]);
    expect(rig.events).toEqual(["CloudUnreachable", "MachineKept"]);
  });

  test("waits ten minutes for a lost pool, and ends without it", async () => {
    const rig = await startReady(1, "Retain");
    rig.cloud.world.clear();
    const problem = { reason: "No", message: "pool lyon is not shown", kind: "retry" } as const;
    rig.cloud.planRemoval = ({ isForChange }) => {
      const plan = { state: "Unknown", steps: [], problems: [problem], parts: [] } as const;
      return { ...plan, needsLook: !isForChange };
    };
    await rig.refresh();
    rig.edit(DELETED);
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Unknown"]);
    expect(ready(rig)).toMatch(
      /^UnableToDecommission: .*pool lyon is not shown\. .* Landfall waits 10 minutes/,
    );
    await rig.clock.advance(600_000);
    await rig.reconcile();
    expect(rig.server).toBeUndefined();
    expect(rig.released).toEqual([]);
  });

  test("ends as soon as a pool comes back that shows what stays", async () => {
    const rig = await startReady(1, "Retain");
    const world = [...rig.cloud.world];
    rig.cloud.world.clear();
    rig.cloud.pools = [{ ...POOL, isComplete: false }];
    await rig.refresh();
    rig.edit(DELETED);
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Unknown"]);
    for (const [name, machine] of world) rig.cloud.world.set(name, machine);
    rig.cloud.pools = [POOL];
    await rig.pass();
    expect(rig.server).toBeUndefined();
    expect(rig.cloud.world.size).toBe(1);
    expect(rig.released).toEqual([]);
  });

  test.each(["step", "plan"] as const)(
    "keeps a machine about which a person would have to decide (%s), without a Warning",
    async (where) => {
      const rig = await startReady(1, "Retain");
      rig.cloud.world.clear();
      await rig.refresh();
      rig.events.length = 0;
      const problem = {
        reason: "VmHidden",
        message: "VM a exists, but is hidden",
        kind: "decision",
      } as const;
      const name = "vino-1b4e28ba-worker-0";
      const step = { summary: "ask", kind: "delete", name, isQuestion: true } as const;
      const [steps, problems] = where === "step" ? [[step], []] : [[], [problem]];
      rig.cloud.planRemoval = ({ isForChange }) => {
        const plan = { state: "Removing", steps: [], problems: [], parts: [] } as const;
        return isForChange ? { ...plan, steps, problems } : { ...plan, needsLook: true };
      };
      rig.cloud.onStep = () => {
        throw new RefusedMachineError(problem, new CloudError("protocol", "403"));
      };
      rig.edit(DELETED);
      await rig.reconcile();
      expect(rig.server).toBeUndefined();
      expect(rig.released).toEqual([]);
      expect(rig.events).toEqual(["MachineKept"]);
    },
  );

  test("does not end without the cloud if it deletes its machines", async () => {
    const rig = await startReady(1);
    rig.cloud.failure = new CloudError("unreachable", "no answer");
    rig.edit(DELETED);
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(rig.reconcile()).rejects.toThrow("no answer");
      await rig.clock.advance(600_000);
    }
    expect(ready(rig)).toBe("UnableToDecommission: no answer");
    expect(rig.released).toEqual([]);
  });
});

const CUTS: readonly DoubleMachineStep["kind"][] = [
  "create",
  "configure",
  "complete",
  "resize",
  "detach",
  "delete",
];

describe("a process that ends", () => {
  longTest.each(CUTS.flatMap((kind) => ["onStep", "afterStep"].map((when) => ({ kind, when }))))(
    "at $kind ($when) leaves nothing that the next one does not finish",
    async ({ kind, when }) => {
      const rig = await startReady(2);
      const isEnd = kind === "detach" || kind === "delete";
      const spec = toVinoSpec(isEnd ? 1 : 4, {
        deletionPolicy: "Delete",
        ...(kind === "resize" && { cpus: 4 }),
      });
      rig.edit({ spec });
      const cut = (step: DoubleMachineStep): void => {
        if (step.kind === kind) throw new LeadershipLostError("another leads");
      };
      rig.cloud[when === "onStep" ? "onStep" : "afterStep"] = cut;
      await expect(rig.reconcile()).rejects.toThrow("another leads");
      rig.cloud.onStep = () => undefined;
      rig.cloud.afterStep = () => undefined;
      rig.restart();
      await rig.pass();
      await rig.pass();
      expect(rig.machines).toEqual(
        (isEnd ? [0] : [0, 1, 2, 3]).map((index) => `worker-${index} Ready`),
      );
      expect(rig.cloud.world.size).toBe(isEnd ? 1 : 4);
      for (const { stage, cpus, disks } of rig.cloud.world.values()) {
        expect({ stage, cpus, disks }).toEqual({
          stage: "ready",
          cpus: kind === "resize" ? 4 : 2,
          disks: 1,
        });
      }
    },
  );
});

test("an attempt is not forgotten because a person deletes its object before the next process", async () => {
  const rig = new ReconcilerRig(toVinoSpec(2));
  await rig.refresh();
  rig.cloud.afterStep = ({ kind }) => {
    if (kind === "create") throw new LeadershipLostError("another leads");
  };
  await expect(rig.reconcile()).rejects.toThrow("another leads");
  const records = rig.objects.entries.map(({ record }) => record);
  expect(records.every((one) => one !== undefined)).toBe(true);
  for (const object of rig.objects.server.values()) {
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    rig.objects.set({ ...object, metadata: { ...object.metadata, deletionTimestamp } });
  }
  rig.cloud.afterStep = () => undefined;
  rig.restart();
  expect(rig.objects.entries.map(({ record }) => record)).toEqual(records);
  await rig.pass();
  await rig.pass();
  expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  expect(rig.steps.filter((one) => one.startsWith("create"))).toHaveLength(2);
});

test("a Vino does not end while a look shows a machine of it that no inventory has shown", async () => {
  const rig = await startReady(1);
  const [made] = rig.cloud.world.values();
  const name = "vino-1b4e28ba-worker-7";
  if (made) rig.cloud.world.set(name, { ...made, name, id: "late" });
  rig.edit({ metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } });
  await rig.reconcile();
  expect(await rig.reconcile()).toEqual({ requeueAfterMs: 5_000 });
  expect(rig.server?.metadata.finalizers).toHaveLength(1);
  await rig.pass();
  expect([...rig.cloud.world.keys()]).toEqual([]);
  expect(rig.server).toBeUndefined();
});

describe("a step that takes long", () => {
  /** Begins two machines, of which the first one waits in a step. */
  async function startHeld(policy: "Delete" | "Retain" = "Delete") {
    const rig = new ReconcilerRig(toVinoSpec(2, { deletionPolicy: policy }));
    const held = Promise.withResolvers<void>();
    rig.cloud.onStep = ({ kind, name }) =>
      kind === "configure" && name.endsWith("worker-0") ? held.promise : undefined;
    await rig.refresh();
    const first = rig.reconcile();
    // Nothing else is awaited: everything but the step goes on.
    await rig.clock.advance(1);
    while (rig.steps.length < 3) await rig.clock.advance(1);
    return { rig, held, first };
  }

  test("holds up no other machine for long, and its own is left alone", async () => {
    const { rig, held, first } = await startHeld();
    await rig.reconcile();
    expect(rig.steps.at(-1)).toBe("configure worker-1");
    await rig.clock.advance(15_000);
    await rig.reconcile();
    expect(rig.steps.at(-1)).toBe("complete worker-1");
    await rig.clock.advance(15_000);
    await rig.reconcile();
    expect(rig.hosts).toEqual(new Set(["edge-worker-1"]));
    await rig.clock.advance(5_000);
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Creating", "worker-1 Ready"]);
    held.resolve();
    await first;
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
    expect(rig.steps.filter((one) => one.endsWith("worker-0"))).toEqual([
      "create worker-0",
      "configure worker-0",
      "complete worker-0",
    ]);
  });

  test.each(["Delete", "Retain"] as const)(
    "keeps a Vino that is deleted with the policy %s until it is over",
    async (policy) => {
      const { rig, held, first } = await startHeld(policy);
      rig.edit({ metadata: { name: "edge", deletionTimestamp: "2026-01-01T00:00:00Z" } });
      await rig.refresh();
      rig.cloud.failure = new CloudError("unreachable", "no answer");
      await rig.reconcile();
      await rig.clock.advance(3_600_000);
      await rig.reconcile().catch(() => undefined);
      expect(rig.server?.metadata.finalizers).toEqual([FINALIZER]);
      rig.cloud.failure = undefined;
      held.resolve();
      await first.catch(() => undefined);
      await rig.pass();
      await rig.pass();
      expect(rig.server).toBeUndefined();
      expect(rig.cloud.world.size).toBe(policy === "Delete" ? 0 : 2);
      expect(rig.steps).not.toContain("complete worker-0");
    },
  );

  test("does not keep a machine waiting that is wanted while no other ends", async () => {
    const rig = new ReconcilerRig(toVinoSpec(1));
    const held = Promise.withResolvers<void>();
    rig.cloud.onStep = ({ name }) => (name.endsWith("worker-0") ? held.promise : undefined);
    await rig.refresh();
    const first = rig.reconcile();
    await rig.clock.advance(1);
    rig.edit({ spec: toVinoSpec(2) });
    await rig.reconcile();
    expect(rig.steps).toEqual([]);
    await rig.clock.advance(15_000);
    await rig.reconcile();
    expect(rig.steps[0]).toBe("create worker-1");
    held.resolve();
    await first;
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  });

  test("that fails for a spec that is over says nothing about the cloud", async () => {
    const { rig, held, first } = await startHeld();
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete", cpus: 4 }) });
    rig.cloud.onStep = () => undefined;
    held.reject(new CloudError("unreachable", "no answer"));
    await first;
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
    expect(rig.events).not.toContain("CloudUnreachable");
  });

  test("hides no failed look at another machine", async () => {
    const { rig, held, first } = await startHeld();
    rig.cloud.onLook = () => {
      throw new CloudError("unreachable", "no answer");
    };
    await rig.clock.advance(15_000);
    await rig.reconcile();
    await rig.clock.advance(15_000);
    await expect(rig.reconcile()).rejects.toThrow("no answer");
    const ready = rig.server?.status?.conditions?.find(({ type }) => type === "MachinesReady");
    expect(ready?.reason).toBe("CloudUnreachable");
    rig.cloud.onLook = () => undefined;
    held.resolve();
    await first;
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  });

  /** A Vino of two machines, of which one was removed, and no inventory came since. */
  async function startRemoved(): Promise<ReconcilerRig> {
    const rig = await startReady(2);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Ready"]);
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    return rig;
  }

  test("of a machine that was removed a moment ago is not forgotten if it is not wanted again", async () => {
    const rig = await startRemoved();
    const held = Promise.withResolvers<void>();
    rig.cloud.afterStep = () => held.promise;
    const first = rig.reconcile();
    await rig.clock.advance(1);
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Creating"]);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    await rig.reconcile();
    expect(rig.objects.entries[1]?.record).toBeDefined();
    const said: string[] = [];
    rig.cloud.onStep = ({ kind }) => void said.push(`${kind}: ${rig.machines.at(-1)}`);
    held.resolve();
    await first;
    await rig.reconcile();
    expect(said).toEqual(["detach: worker-1 Removing", "delete: worker-1 Removing"]);
    expect(rig.cloud.world.size).toBe(1);
  });

  /** Finds the write of the first record of a machine: the second one of its status. */
  function spotRecord(name: string): (what: string) => boolean {
    let writes = 0;
    return (what) => {
      if (what === `status ${name}`) writes += 1;
      return what === `status ${name}` && writes === 2;
    };
  }

  test("keeps an object whose record is saved while its Vino sums up", async () => {
    const rig = await startReady(1);
    const held = Promise.withResolvers<void>();
    const isRecord = spotRecord("edge-worker-1");
    rig.objects.onWrite = (what) => (isRecord(what) ? held.promise : undefined);
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    const first = rig.reconcile();
    await rig.clock.advance(1);
    await rig.clock.advance(5_000);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    rig.onStatus = async () => {
      held.resolve();
      await settle();
    };
    const made = Promise.withResolvers<void>();
    rig.cloud.afterStep = () => made.promise;
    await rig.reconcile();
    expect(rig.objects.entries[1]?.record).toBeDefined();
    made.resolve();
    await first;
    await rig.reconcile();
    expect(rig.machines).toEqual(["worker-0 Ready"]);
  });

  test("keeps an object of which the work ends while its Vino sums up", async () => {
    const rig = await startReady(1);
    const held = Promise.withResolvers<void>();
    const machine = toEntry("worker", 1).name;
    const isRecord = spotRecord("edge-worker-1");
    const lost: string[] = [];
    rig.objects.onWrite = async (what) => {
      if (what === "delete edge-worker-1" && rig.cloud.world.has(machine)) lost.push(what);
      if (isRecord(what)) await held.promise;
    };
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    await using _ = rig.run();
    await rig.clock.advance(1);
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
    rig.onDecide = async () => {
      held.resolve();
      await settle();
    };
    await rig.clock.advance(60_000);
    expect(lost).toEqual([]);
    expect(rig.steps).toEqual(["create worker-1", "detach worker-1", "delete worker-1"]);
    expect(rig.machines).toEqual(["worker-0 Ready"]);
  });

  test("that was planned for another goal proves no removal", async () => {
    const rig = await startReady(3);
    const [third, fourth] = [3, 4].map((index) => toEntry("worker", index));
    if (third === undefined || fourth === undefined) throw new Error("there are two");
    const { plan, planRemoval } = rig.cloud;
    const base = { steps: [], problems: [], parts: [] };
    // An answer was lost a moment ago, and the machine may come late.
    rig.cloud.plan = (view, spec) =>
      spec.index === 4 && view.isForChange
        ? { ...base, state: "Absent", againMs: 30_000 }
        : plan.call(rig.cloud, view, spec);
    rig.cloud.planRemoval = (view, one) =>
      one.index === 4
        ? { ...base, state: "Removing", againMs: 10_000, needsLook: !view.isForChange }
        : planRemoval.call(rig.cloud, view, one);
    const step = Promise.withResolvers<void>();
    const look = Promise.withResolvers<void>();
    rig.cloud.onStep = ({ name }) => (name === third.name ? step.promise : undefined);
    rig.cloud.onLook = () =>
      rig.cloud.calls.at(-1) === "look worker-4" ? look.promise : undefined;
    rig.edit({ spec: toVinoSpec(4, { deletionPolicy: "Delete" }) });
    await using _ = rig.run();
    await rig.clock.advance(1);
    rig.objects.set(toObject({ ...fourth, state: "Creating", record: "task-9" }));
    rig.edit({ spec: toVinoSpec(5, { deletionPolicy: "Delete" }) });
    await rig.clock.advance(20_500);
    step.resolve();
    await rig.clock.advance(16_000);
    rig.edit({ spec: toVinoSpec(2, { deletionPolicy: "Delete" }) });
    rig.objects.onWrite = async (what) => {
      if (what !== "status edge-worker-2") return;
      look.resolve();
      await settle();
    };
    await rig.clock.advance(60_000);
    expect(rig.released).not.toContain(fourth.name);
    expect(rig.machines).toEqual(["worker-0 Ready", "worker-1 Ready", "worker-4 Removing"]);
    expect(rig.objects.entries.at(-1)?.record).toBe("task-9");
  });

  test("keeps no error in the status that is over", async () => {
    const rig = await startReady(1);
    rig.edit({ spec: toVinoSpec(2) });
    rig.addressFailure = new IpPoolError("namespace nosuch does not exist");
    const held = Promise.withResolvers<void>();
    rig.cloud.onStep = () => held.promise;
    await using _ = rig.run();
    await rig.clock.advance(1);
    rig.addressFailure = undefined;
    await rig.clock.advance(20_000);
    const ready = rig.server?.status?.conditions?.find(({ type }) => type === "MachinesReady");
    expect(ready?.reason).toBe("Progressing");
    held.resolve();
  });

  test("ends with it if another spec came meanwhile", async () => {
    const { rig, held, first } = await startHeld();
    rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete", cpus: 4 }) });
    await rig.reconcile();
    held.resolve();
    await first;
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready"]);
    expect(rig.cloud.world.size).toBe(1);
  });
});

test("work on machines that lost their addresses counts for the most that may be worked on at once", async () => {
  const rig = new ReconcilerRig(toVinoSpec(10));
  await rig.refresh();
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  rig.cloud.onStep = ({ name }) => {
    begun.push(name);
    return held.promise;
  };
  await using _ = rig.run();
  await rig.clock.advance(1);
  expect(begun).toHaveLength(8);
  rig.addressless = new Set(begun);
  await rig.clock.advance(60_000);
  expect(begun).toHaveLength(8);
  held.resolve();
});

test("a Vino that was made again under its name inherits nothing that was remembered", async () => {
  const rig = await startReady(1);
  if (rig.server === undefined) throw new Error("there is a Vino");
  const { metadata } = rig.server;
  rig.server = { ...rig.server, metadata: { ...metadata, uid: "another" } };
  rig.show();
  await rig.reconcile();
  expect(rig.forgotten).toEqual([VINO_OWNER.uid]);
});

test("a machine that vanished is not called ready while it is made again", async () => {
  const rig = await startReady(1);
  rig.cloud.world.clear();
  const said: string[] = [];
  rig.cloud.onStep = ({ kind }) => void said.push(`${kind}: ${rig.machines.join()}`);
  await rig.pass();
  expect(said[0]).toBe("create: worker-0 Absent");
  expect(rig.machines).toEqual(["worker-0 Ready"]);
});

test("a removal is in the object before its first step", async () => {
  const rig = await startReady(2);
  const said: string[][] = [];
  rig.cloud.onStep = () => void said.push(rig.machines);
  rig.edit({ spec: toVinoSpec(1, { deletionPolicy: "Delete" }) });
  await rig.reconcile();
  expect(said[0]).toEqual(["worker-0 Ready", "worker-1 Removing"]);
});
