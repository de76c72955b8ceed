import { describe, expect, test } from "bun:test";
import { addMachines } from "../../../../lib/cli/check/controllers/machines.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { MachinesUse } from "../../../../lib/cloud/capabilities/machines.ts";
import type { FlagValues } from "../../../../lib/controllers/definition.ts";
import type { Finding } from "../../../../lib/cloud/inspection.ts";

const { signal } = new AbortController();
const STEP = { status: "ok", findings: [] } as const;
const FOUND: Finding = { level: "warning", code: "privilege", message: "vif create is missing" };
const MAKING = [{}, { needs: ["machines"] as const }];

function toCloud(answer: () => readonly Finding[]) {
  let count = 0;
  const inspect = async (): Promise<readonly Finding[]> => {
    count += 1;
    return answer();
  };
  return { provider: { machines: { inspect } }, countAsked: () => count };
}

describe("addMachines()", () => {
  test("adds what the cloud says, if a controller makes machines", async () => {
    const { provider } = toCloud(() => [FOUND]);
    const step = await addMachines(STEP, { provider, fitting: MAKING, flags: {} }, signal);
    expect(step).toEqual({ status: "warning", findings: [FOUND] });
  });

  test("says how clients manage the machines, as the flags of the controller say", async () => {
    const asked: MachinesUse[] = [];
    const inspect = async (use: MachinesUse): Promise<readonly Finding[]> => {
      asked.push(use);
      return [];
    };
    const fitting = [
      {
        needs: ["machines"] as const,
        findMachinesUse: ({ port }: FlagValues) => ({ isManaged: port === 1, isoStorage: "ISOs" }),
      },
    ];
    for (const flags of [{ port: 1 }, {}]) {
      await addMachines(STEP, { provider: { machines: { inspect } }, fitting, flags }, signal);
    }
    expect(asked).toEqual([{ isManaged: true, isoStorage: "ISOs" }, { isManaged: false }]);
  });

  test("asks nothing if no controller makes machines", async () => {
    const { provider, countAsked } = toCloud(() => [FOUND]);
    const fitting = [{}, { needs: ["loadBalancers"] as const }];
    expect(await addMachines(STEP, { provider, fitting, flags: {} }, signal)).toEqual(STEP);
    expect(countAsked()).toBe(0);
  });

  test.each([
    ["of a cloud that cannot make any", {}],
    ["of a cloud that does not say", { machines: {} }],
    ["without settings", undefined],
  ])("adds nothing %s", async (_title, provider) => {
    expect(await addMachines(STEP, { provider, fitting: MAKING, flags: {} }, signal)).toEqual(STEP);
  });

  test("asks nothing if the cloud has failed already", async () => {
    const { provider, countAsked } = toCloud(() => [FOUND]);
    const failed = {
      status: "failure",
      findings: [{ level: "failure", code: "unauthorized", message: "no" }],
    } as const;
    expect(await addMachines(failed, { provider, fitting: MAKING, flags: {} }, signal)).toEqual(
      failed,
    );
    expect(countAsked()).toBe(0);
  });

  const unseen = {
    status: "failure",
    findings: [{ level: "failure", code: "noInstances", message: "no vms", advice: "for Nodes" }],
  } as const;
  const lacks: Finding = { level: "failure", code: "r", message: "no right", advice: "the role" };

  test.each([
    ["machines are all that matters", MAKING.slice(1), undefined],
    ["Nodes matter, too", MAKING, "for Nodes"],
  ])("says what the user lacks if nothing is visible, and %s", async (_title, fitting, advice) => {
    const { provider } = toCloud(() => [lacks]);
    const step = await addMachines(unseen, { provider, fitting, flags: {} }, signal);
    expect(step.findings.map((one) => one.advice)).toEqual([advice, "the role"]);
  });

  test("says why the cloud cannot be asked", async () => {
    const { provider } = toCloud(() => {
      throw new CloudError("unreachable", "connection refused");
    });
    const step = await addMachines(STEP, { provider, fitting: MAKING, flags: {} }, signal);
    expect(step).toMatchObject({ status: "failure", findings: [{ code: "machines" }] });
    expect(step.findings[0]?.message).toEndWith("for machines: connection refused");
  });

  test("does not hide an error of the program", async () => {
    const { provider } = toCloud(() => {
      throw new TypeError("bug");
    });
    const checked = addMachines(STEP, { provider, fitting: MAKING, flags: {} }, signal);
    await expect(checked).rejects.toThrow("bug");
  });
});
