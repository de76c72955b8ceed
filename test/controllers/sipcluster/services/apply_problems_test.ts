/**
 * What the applier does when the API server refuses, on a simulated API server.
 * @module
 */
import { sample } from "../../../support/extent.ts";
import { describe, expect, test } from "bun:test";
import { collectGarbage } from "../../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import {
  type ApplierRig,
  NAMESPACE,
  startApplier,
  toPlan,
} from "../../../support/sipcluster/applier_rig.ts";
import { longTest } from "../../../support/long_tests.ts";

const JUMP = toPlan();
const DEX = toPlan({ service: "auth", name: "dex-a", nodePort: 30002 });
const PORT = { name: "x", port: 80, protocol: "TCP", nodePort: 30001 };

describe("a node port that is taken", () => {
  test("is a problem that names port and Service; the rest goes on, and it is tried again", async () => {
    await using rig = await startApplier();
    const theirs = { name: "theirs", namespace: NAMESPACE };
    const spec = { type: "NodePort", ports: [PORT] };
    rig.kubernetes.objects.create("services", { metadata: theirs, spec });
    const { problems, againMs } = await rig.apply(JUMP, DEX);
    expect(problems).toEqual([
      "jumpHost NodePortUnavailable: Service jumphost-a cannot have node port 30001: " +
        "Invalid value: 30001: provided port is already allocated",
    ]);
    expect(againMs).toBe(60_000);
    expect(rig.find("deployments", "jumphost-a")).toBeDefined();
    expect(rig.find("services", "dex-a")).toBeDefined();
    rig.kubernetes.objects.delete("services", theirs);
    expect((await rig.apply(JUMP, DEX)).problems).toEqual([]);
  });

  test("is named with the cluster's Service that has it", async () => {
    await using rig = await startApplier();
    const other = rig.createCluster("b");
    await rig.applier.apply(other, [toPlan({ name: "jumphost-b" })], rig.signal);
    const { problems } = await rig.apply(JUMP);
    expect(problems).toEqual([expect.stringMatching(/allocated, by Service jumphost-b\. To swap/)]);
  });

  test("is a problem if it is out of range", async () => {
    await using rig = await startApplier();
    const { problems } = await rig.apply(toPlan({ nodePort: 80 }));
    expect(problems).toEqual([
      expect.stringContaining("cannot have node port 80: Invalid value: 80: provided port is"),
    ]);
  });
});

describe("a refusal", () => {
  test("of the Secret leaves the Deployment as it is, so that no Pod starts with an old one", async () => {
    await using rig = await startApplier();
    await rig.apply(JUMP);
    rig.kubernetes.faults.refuse({ verb: "patch", resource: "secrets", status: 403 });
    const next = toPlan({ config: "two", replicas: 3 });
    const { problems } = await rig.apply(next, DEX);
    expect(problems).toEqual([
      expect.stringContaining("jumpHost Forbidden: Secret jumphost-a: Cannot patch"),
      expect.stringContaining("auth Forbidden: Secret dex-a: Cannot patch"),
    ]);
    expect(rig.find("deployments", "jumphost-a")).toMatchObject({ spec: { replicas: 2 } });
  });

  test.each([500, 503, 409, 429])(
    "of kind %i ends the attempt, and the next one goes on where it ended",
    async (status) => {
      await using rig = await startApplier();
      rig.kubernetes.faults.refuse({ verb: "patch", resource: "deployments", status, times: 1 });
      await expect(rig.apply(JUMP)).rejects.toThrow(String(status));
      const { problems, requests } = await rig.apply(JUMP);
      expect([problems, requests]).toEqual([
        [],
        [
          "get deployments/jumphost-a",
          "patch deployments/jumphost-a",
          "get services/jumphost-a",
          "patch services/jumphost-a",
        ],
      ]);
    },
  );

  test("of a namespace that is gone is a problem, not the end of the cluster", async () => {
    await using rig = await startApplier();
    rig.kubernetes.faults.refuse({ verb: "patch", resource: "secrets", status: 404 });
    expect((await rig.apply(JUMP)).problems).toEqual([
      expect.stringContaining("jumpHost ObjectRefused: Secret jumphost-a: Cannot patch"),
    ]);
  });
});

describe("a crash at any request", () => {
  /** More than it takes to make all. */
  const REQUESTS = sample(Array.from({ length: 20 }, (_, at) => at));
  const cases = [false, true].map((isDone) => [isDone ? "with" : "without", isDone] as const);
  const atEach = async (
    isDone: boolean,
    story: (rig: ApplierRig) => Promise<string[]>,
  ): Promise<string[][]> =>
    await Promise.all(
      REQUESTS.map(async (at) => {
        await using rig = await startApplier({ lost: { at, isDone } });
        await rig.apply(JUMP, DEX).catch(() => undefined);
        await rig.restart();
        return await story(rig);
      }),
    );
  const nTimes = (objects: string[]): string[][] => REQUESTS.map(() => objects);

  longTest.each(cases)("%s effect leads to the same objects as none", async (_what, isDone) => {
    await using calm = await startApplier();
    await calm.apply(JUMP, DEX);
    const wanted = calm.list();
    expect(wanted).toHaveLength(8);
    const found = await atEach(isDone, async (rig) => {
      await rig.apply(JUMP, DEX).catch(() => rig.apply(JUMP, DEX));
      return rig.list();
    });
    expect(found).toEqual(nTimes(wanted));
  });

  longTest.each(cases)(
    "%s effect leaves nothing of a service and a cluster that go then",
    async (_what, isDone) => {
      const found = await atEach(isDone, async (rig) => {
        await rig.apply(JUMP).catch(() => rig.apply(JUMP));
        await rig.restart();
        const remove = async (): Promise<number> =>
          await rig.remove(JUMP).then(
            ({ length }) => length,
            () => 1,
          );
        for (let tries = 0; tries < 4 && (await remove()) > 0; tries += 1);
        // What a service that is not wanted any more left behind before its Deployment named it.
        rig.kubernetes.objects.delete("sipclusters", { name: "a", namespace: NAMESPACE });
        collectGarbage(rig.kubernetes.objects);
        return rig.list();
      });
      expect(found).toEqual(nTimes([]));
    },
  );
});
