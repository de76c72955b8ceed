/**
 * DMTF's own checkers judge the Redfish of the compiled program. What they find wrong today is listed with the reason;
 * the list only gets shorter.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lacks, REDFISH_CHECKERS } from "../../judges/install.ts";
import { until } from "../../support/nodes/rig.ts";
import { listPrograms } from "../../support/process/landfall_process.ts";
import { checkProtocol, checkUseCases } from "../../support/redfish/checkers.ts";
import { RedfishRig } from "../../support/redfish/processes.ts";
import type { RedfishLogin } from "../../support/redfish/python.ts";

const WAIT_MS = 40_000;
const CHECK_MS = 500_000;
const program = listPrograms().at(-1);

/** What fails, by its beginning, and why it stays. */
const KNOWN: Readonly<Record<string, string>> = {
  SEC_PRIV_SUPPORT_PREDEFINED_ROLES:
    "There are no accounts and no roles: the Secret of a host is its only account",
};

describe.skipIf(lacks(REDFISH_CHECKERS))("DMTF's checkers of Redfish", () => {
  let rig: RedfishRig;
  let login: RedfishLogin;
  const failed: string[] = [];

  beforeAll(async () => {
    if (program === undefined) throw new Error("Cannot test: there is no program");
    rig = await RedfishRig.start(program, 1);
    await until("the process leads", () => rig.findLeader(), WAIT_MS);
    login = rig.login(rig.findLeader() ?? failedToFind());
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });

  const judge = (found: readonly string[]): void => {
    const named = found.map((one) => one.replaceAll(rig.machineId, "SYSTEM"));
    failed.push(...named);
    const isKnown = (one: string): boolean => Object.keys(KNOWN).some((key) => one.startsWith(key));
    expect(named.filter((one) => !isKnown(one))).toEqual([]);
  };

  test("find nothing new in the protocol", async () => judge(await checkProtocol(login)), CHECK_MS);

  test(
    "find nothing new in the use cases",
    async () => judge(await checkUseCases(login)),
    CHECK_MS,
  );

  test("still find what is listed: remove what is mended", () => {
    const mended = Object.keys(KNOWN).filter((key) => !failed.some((one) => one.startsWith(key)));
    expect(mended).toEqual([]);
  });
});

function failedToFind(): never {
  throw new Error("there is no leader");
}
