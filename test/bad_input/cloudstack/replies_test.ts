/**
 * Damaged answers of CloudStack: what was said well, or a reason in words that can be shown.
 * @module
 */
import { afterEach, beforeEach, describe, test } from "bun:test";
import fc from "fast-check";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { CloudStackSession } from "../../../lib/providers/cloudstack/session/session.ts";
import { SCHEMAS } from "../../../lib/providers/cloudstack/wire/schema.ts";
import { FakeCloudStack, toDeps, toSettings } from "../../providers/cloudstack/fake_server.ts";
import { applyDamage, damage } from "../damage.ts";
import { checkWords } from "./stage.ts";
import { tries } from "../../support/extent.ts";

const signal = new AbortController().signal;
const FREE = { command: "disassociateIpAddress", schema: SCHEMAS.success, timeoutMs: 1_000 };
const ABOUT = { command: "listCapabilities", key: "capability", schema: SCHEMAS.capabilities };

let fake: FakeCloudStack;
beforeEach(() => {
  fake = new FakeCloudStack();
});
afterEach(() => fake.stop());

/** A failure is a reason that can be shown. */
function expectReason(error: unknown): void {
  if (!(error instanceof CloudError)) throw error;
  checkWords(error);
}

describe("CloudStackSession", () => {
  test("a damaged answer to any other command is a reason, or an answer in its form", async () => {
    const deps = toDeps();
    const session = new CloudStackSession(toSettings(fake.url), deps);
    const answers: Readonly<Record<string, object>> = {
      listCapabilities: { listcapabilitiesresponse: { capability: { cloudstackversion: "4.22" } } },
      disassociateIpAddress: { disassociateipaddressresponse: { jobid: "job-1" } },
      queryAsyncJobResult: {
        queryasyncjobresultresponse: { jobstatus: 1, jobresult: { success: true } },
      },
    };
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        damage,
        fc.constantFrom(...Object.keys(answers)),
        async (one, damagedCommand) => {
          fake.answer = ({ command }) => {
            const whole = answers[command];
            return Response.json(
              command === damagedCommand ? applyDamage(whole, one).value : whole,
            );
          };
          const params = { id: String((number += 1)) };
          const asked: readonly Promise<unknown>[] = [
            session.read(ABOUT, signal),
            session.call({ ...FREE, params }, signal),
          ];
          for (const settled of asked.map((answer) => answer.catch(expectReason))) {
            while (Bun.peek.status(settled) === "pending") {
              await Bun.sleep(1);
              await deps.clock.advance(400);
            }
            await settled;
          }
        },
      ),
      tries(60),
    );
  });

  test("a refusal of any size and form is a short reason", async () => {
    const session = new CloudStackSession(toSettings(fake.url), toDeps());
    for (const errortext of ["x".repeat(200_000), "\u001b[2J\n\u202e", 7, null, {}, undefined]) {
      for (const errorcode of [401, 431, "530", -1, 0, "x", null]) {
        fake.answer = () =>
          Response.json({ errorresponse: { errorcode, errortext } }, { status: 431 });
        expectReason(await session.read(ABOUT, signal).catch((error: unknown) => error));
      }
    }
  });
});
