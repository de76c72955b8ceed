/**
 * What an answer about a job says.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toOutcome } from "../../../../lib/providers/cloudstack/session/job_reply.ts";

describe("toOutcome()", () => {
  test("knows a job that runs and one that succeeded", () => {
    expect(toOutcome({ jobstatus: 0 }, [])).toBeUndefined();
    expect(toOutcome({ jobstatus: "1", jobresult: { a: 1 } }, [])).toEqual({ result: { a: 1 } });
  });

  test.each([
    [{ errorcode: 431, errortext: "no" }, 431, "(no) to StopVMCmd"],
    ["no", 530, "(no) to StopVMCmd"],
    [undefined, 530, "to StopVMCmd"],
  ])("a failure with %p keeps code and text", (jobresult, code, text) => {
    const outcome = toOutcome({ jobstatus: 2, jobresult, cmd: "org.apache.StopVMCmd" }, []);
    expect(outcome).toMatchObject({ failure: { code } });
    if (outcome && "failure" in outcome) expect(outcome.failure.message).toContain(text);
  });

  test("refuses an answer without a status", () => {
    expect(() => toOutcome({}, [])).toThrow("cannot be read");
  });
});
