/**
 * DMTF's own checkers judge the Redfish of the compiled program, with virtual media.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lacks, REDFISH_CHECKERS } from "../../judges/install.ts";
import { until } from "../../support/nodes/rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { checkProtocol, checkUseCases } from "../../support/redfish/checkers.ts";
import { RedfishRig } from "../../support/redfish/processes.ts";
import type { RedfishLogin } from "../../support/redfish/python.ts";

const WAIT_MS = 40_000;
const CHECK_MS = 500_000;

describe.skipIf(lacks(REDFISH_CHECKERS))("DMTF's checkers of Redfish", () => {
  let rig: RedfishRig;
  let login: RedfishLogin;

  beforeAll(async () => {
    rig = await RedfishRig.start(PROGRAM, 1);
    await until("the process leads", () => rig.findLeader(), WAIT_MS);
    login = rig.login(rig.findLeader() ?? failedToFind());
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });

  test(
    "find nothing wrong in the protocol",
    async () => expect(await checkProtocol(login)).toEqual([]),
    CHECK_MS,
  );

  test(
    "find nothing wrong in the use cases",
    async () => expect(await checkUseCases(login)).toEqual([]),
    CHECK_MS,
  );
});

function failedToFind(): never {
  throw new Error("there is no leader");
}
