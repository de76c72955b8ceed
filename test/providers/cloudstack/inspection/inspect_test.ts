import { describe, expect, test } from "bun:test";
import { inspectCloudStack } from "../../../../lib/providers/cloudstack/inspection/inspect.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import { ExplainedError } from "../../../../lib/providers/cloudstack/session/explained_error.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Inspection } from "../../../../lib/cloud/inspection.ts";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import { toInstance, toInventory } from "../../../support/cloud/instances.ts";
import { toSettings } from "../fake_server.ts";

const KEYS = { apiKey: "the-key", secretKey: "the-secret" };
const URL = "https://cloud.invalid/client/api";

/** Looks at a cloud that answers with this. */
function inspect(answer: Inventory | Error, over: object = {}): Promise<Inspection> {
  const listInventory = (): Promise<Inventory> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  const settings = { ...toSettings(URL, KEYS), ...DEFAULTS, ...over };
  return inspectCloudStack({ settings, listInventory }, new AbortController().signal);
}

const DEFAULTS = {
  refreshIntervalMs: 30_000,
  instanceTypeStyle: "squeezed",
  addresses: { exclude: [], externalCidrs: [] },
  trustsEmptyAnswer: true,
} as const;

function refuse(code: number, text: string): ApiError {
  return new ApiError({ code, text }, { command: "listVirtualMachines", secrets: [] });
}

describe("inspectCloudStack()", () => {
  test("says that the API answers, and what is visible", async () => {
    const { findings, counts, endpoint } = await inspect(toInventory([toInstance("a")]));
    expect(findings.map(({ level, code }) => [level, code])).toEqual([
      ["ok", "answers"],
      ["ok", "partComplete"],
      ["ok", "instances"],
    ]);
    expect([endpoint, counts]).toEqual(["cloud.invalid:443", { zones: 1, vms: 1 }]);
  });

  test("fails when no VM is visible, and gives the inventory as it is", async () => {
    const empty = toInventory([]);
    const { findings, inventory, parts } = await inspect(empty);
    const failures = findings.filter(({ level }) => level === "failure");
    expect(failures.map(({ code }) => code)).toEqual(["noParts", "noInstances"]);
    expect(inventory).toBe(empty);
    expect(parts).toEqual([]);
  });

  test("warns of a network for addresses that no VM has", async () => {
    const inventory = { ...toInventory([toInstance("a")]), lacksNetwork: true };
    const addresses = { exclude: [], externalCidrs: [], network: "nosuch" };
    const { findings } = await inspect(inventory, { addresses });
    expect(findings.filter(({ level }) => level === "warning")).toMatchObject([
      { code: "noNetwork", message: expect.stringContaining('"nosuch"') },
    ]);
  });

  test("warns when the certificate is not checked", async () => {
    const { findings } = await inspect(toInventory([toInstance("a")]), { insecure: true });
    const warnings = findings.filter(({ level }) => level === "warning");
    expect(warnings.map(({ code }) => code)).toEqual(["insecure"]);
    for (const { advice = "" } of warnings) expect(advice).not.toBe("");
  });

  test.each([
    [refuse(401, "unable to verify user credentials"), "unauthorized"],
    [refuse(530, "internal error"), "serverError"],
    [new ExplainedError("denied", { word: "noProject", problem: "p", advice: "a" }), "noProject"],
  ])("fails with the reason and the advice of the error: %p", async (error, code) => {
    const { findings } = await inspect(error);
    const { problem: message, advice } = error.explanation;
    expect(findings).toEqual([{ level: "failure", code, message, advice }]);
  });

  test("advises on an answer that cannot be read", async () => {
    const error = new CloudError("protocol", "CloudStack did not answer listZones with a list");
    const [finding] = (await inspect(error)).findings;
    expect(finding).toMatchObject({ code: "protocol", message: error.message });
    expect(finding?.advice).toContain("report it");
  });

  test("rejects with an error that is none of the cloud's", async () => {
    const bug = new TypeError("a bug");
    await expect(inspect(bug)).rejects.toBe(bug);
  });
});
