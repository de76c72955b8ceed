/**
 * The command behind the chart's hook, against an API server made of a few lines.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { deleteAndWait, type StopOutcome } from "../../lib/cli/stop_workload.ts";
import { main } from "../../lib/cli/main.ts";
import type { DeleteOptions } from "../../lib/kube/api/client.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import type { KubeObject } from "../../lib/kube/kinds/resource.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";

const TARGET = {
  kind: "daemonset",
  namespace: "kube-system",
  name: "landfall",
  release: "landfall",
} as const;

function toWorkload(uid: string, release?: string): KubeObject {
  const annotations = release === undefined ? {} : { "meta.helm.sh/release-name": release };
  return { metadata: { name: TARGET.name, uid, annotations } };
}

/** Answers reads by time, and counts what is deleted. */
class Stage extends ScriptedKubeClient {
  readonly clock: ManualClock;
  readonly answer: (ms: number) => KubeObject | KubeError;
  readonly deletions: DeleteOptions[] = [];

  constructor(answer: (ms: number) => KubeObject | KubeError) {
    const clock = new ManualClock();
    super(clock);
    this.clock = clock;
    this.answer = answer;
    this.onWrite = ({ body }) => this.deletions.push(body);
  }

  override read<T extends KubeObject>(): Promise<T> {
    const answer = this.answer(this.clock.monotonic());
    return answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer as T);
  }

  async run(ms: number): Promise<StopOutcome | "running"> {
    const { clock } = this;
    const { signal } = new AbortController();
    const running = deleteAndWait(this, TARGET, { clock, signal });
    // Looked at below.
    running.catch(() => undefined);
    await clock.advance(ms);
    return await Promise.race([running, Promise.resolve("running" as const)]);
  }
}

const NOT_FOUND = new KubeError("notFound", "Cannot read: it is not there");
const SILENT = new KubeError("unavailable", "Cannot read: no answer");

describe("deleteAndWait()", () => {
  test("deletes that very workload in the foreground, and is done when it is gone", async () => {
    const stage = new Stage((ms) => (ms < 9_000 ? toWorkload("u", "landfall") : NOT_FOUND));
    expect(await stage.run(10_000)).toBe("stopped");
    expect(stage.deletions).toEqual([{ uid: "u", propagationPolicy: "Foreground" }]);
  });

  test("waits for as long as there are pods, for a minute", async () => {
    const stage = new Stage(() => toWorkload("u", "landfall"));
    expect(await stage.run(50_000)).toBe("running");
    expect(await new Stage(stage.answer).run(61_000)).toBe("late");
  });

  test("is done when another of that name is there", async () => {
    const stage = new Stage((ms) => toWorkload(ms < 3_000 ? "u" : "new", "landfall"));
    expect(await stage.run(4_000)).toBe("stopped");
  });

  test("takes no answer for none", async () => {
    const stage = new Stage((ms) => {
      if (ms === 0) return toWorkload("u", "landfall");
      return ms < 5_000 ? SILENT : NOT_FOUND;
    });
    expect(await stage.run(4_000)).toBe("running");
    expect(await new Stage(stage.answer).run(6_000)).toBe("stopped");
  });

  test.each<[string, KubeObject | KubeError, StopOutcome]>([
    ["that was rendered and applied by hand", toWorkload("u"), "foreign"],
    ["of another release", toWorkload("u", "other"), "foreign"],
    ["that is gone already", NOT_FOUND, "absent"],
  ])("deletes no workload %s", async (_title, answer, outcome) => {
    const stage = new Stage(() => answer);
    expect(await stage.run(0)).toBe(outcome);
    expect(stage.deletions).toEqual([]);
  });

  test("reports a refusal", async () => {
    const stage = new Stage(() => new KubeError("forbidden", "Cannot read: forbidden"));
    await expect(stage.run(0)).rejects.toThrow("forbidden");
  });
});

describe("landfall stop-workload", () => {
  let err = "";
  afterEach(() => {
    err = "";
  });
  const call = (...argv: readonly string[]): Promise<number> =>
    main(["stop-workload", ...argv], {
      env: {},
      print: () => {},
      complain: (text) => (err += text),
    });

  test("ends with 0 when it cannot do it, and says why: an uninstall goes on", async () => {
    expect(await call("daemonset", "kube-system", "landfall", "landfall")).toBe(0);
    expect(err).toStartWith("landfall: Cannot stop daemonset kube-system/landfall: ");
    expect(err).toContain("none found: set --kubeconfig");
  });

  test.each([
    [["job", "kube-system", "landfall", "landfall"]],
    [["daemonset", "kube-system", "landfall"]],
    [["daemonset", "", "landfall", "landfall"]],
    [["daemonset", "kube-system", "landfall", "landfall", "more"]],
  ])("ends with 2 for %j", async (argv) => {
    expect(await call(...argv)).toBe(2);
    expect(err).toContain("stop-workload needs four arguments: daemonset or deployment");
  });
});
