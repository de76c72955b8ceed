import { describe, expect, test } from "bun:test";
import { describeVino, judgeState } from "../../../lib/controllers/vino/describe.ts";
import { toHostName } from "../../../lib/controllers/vino/hosts/names.ts";
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import { toEntry, VINO_OWNER } from "../../support/vino/known.ts";
import { HOST_CLUSTER_NAME } from "../../../lib/controllers/words.ts";
import { type BareMetalHost, VINO_UID } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { toReport, toReports } from "../../support/vino/reports.ts";

const CONDITION = { type: "Ready", message: "", lastTransitionTime: "" };

function toVino(
  status: "True" | "False",
  reason: string,
  metadata: Partial<Vino["metadata"]> = {},
): Vino {
  return {
    metadata: { ...VINO_OWNER, generation: 2, ...metadata },
    status: { observedGeneration: 2, conditions: [{ ...CONDITION, status, reason }] },
  };
}

const FAILED = { at: 0, outcome: "error", error: "no" } as const;

test.each([
  ["ready", toVino("True", "ReconciliationSucceeded"), undefined],
  ["working", toVino("False", "Progressing"), undefined],
  ["working", toVino("True", "ReconciliationSucceeded", { generation: 3 }), undefined],
  ["working", { metadata: VINO_OWNER }, undefined],
  ["waiting", toVino("False", "CloudUnreachable"), undefined],
  ["waiting", toVino("False", "HostsInUse"), undefined],
  ["failing", toVino("False", "MachineFailure"), undefined],
  ["failing", toVino("False", "FleetLimit"), undefined],
  ["failing", toVino("True", "ReconciliationSucceeded"), FAILED],
  ["deleting", toVino("True", "x", { deletionTimestamp: "2026-01-01T00:00:00Z" }), FAILED],
])("judgeState() is %s", (expected, vino, outcome) => {
  expect(judgeState(vino, outcome)).toBe(expected as ReturnType<typeof judgeState>);
});

describe("describeVino()", () => {
  const vino = toVino("True", "ReconciliationSucceeded");

  const nowhere = { findHost: () => undefined };

  test("shows wanted beside actual for each machine", () => {
    const parts = [{ name: "CPUs", wanted: "4", actual: "2" }];
    const message = "no room";
    const report = toReports([toReport(0, { host: "h2", message }, { parts })]);
    const last = { kind: "served", spec: {}, report } as const;
    const shown = describeVino(vino, { last, outcome: { at: 0, outcome: "ok" }, ...nowhere });
    expect(shown).toMatchObject({
      state: "ready",
      wanted: 1,
      ready: 1,
      machines: [{ index: 0, host: "h2", isWanted: true, parts, message: "No room" }],
      lastReconcile: { at: "1970-01-01T00:00:00.000Z", outcome: "ok" },
    });
  });

  test("shows what the status says before this process has looked, without records", () => {
    const machines = [toEntry("worker", 0, { record: "task-1" })];
    const shown = describeVino(
      { ...vino, status: { ...vino.status, machines } },
      { last: undefined, outcome: undefined, ...nowhere },
    );
    expect(shown.machines).toMatchObject([{ index: 0, state: "Ready" }]);
    expect(JSON.stringify(shown)).not.toContain("task-1");
    expect(shown.lastReconcile).toBeNull();
  });

  test("shows what uses a machine, by its own host only", () => {
    const labels = { [VINO_UID]: VINO_OWNER.uid, [HOST_CLUSTER_NAME]: "blue" };
    const toShown = (changes: Partial<BareMetalHost["metadata"]>): object => {
      const machines = [toEntry("worker", 0)];
      const shown = describeVino(
        { ...vino, status: { ...vino.status, machines } },
        {
          last: undefined,
          outcome: undefined,
          findHost: (name) => ({
            metadata: { name, labels, ...changes },
            spec: { consumerRef: { kind: "Metal3Machine", namespace: "m", name: "w" } },
            status: { provisioning: { state: "provisioned" } },
          }),
        },
      );
      return shown.machines[0] ?? {};
    };
    expect(toShown({})).toMatchObject({
      hostName: toHostName({ vino: VINO_OWNER.name, role: "worker", index: 0 }),
      provisioning: "provisioned",
      consumer: "Metal3Machine m/w",
      cluster: "blue",
    });
    expect(toShown({ labels: {} })).not.toHaveProperty("consumer");
  });
});
