import { describe, expect, test } from "bun:test";
import { createLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createLeaderMetrics, ElectionEvents } from "../../../lib/kube/election/events.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Recovery } from "../../../lib/kube/api/request.ts";
import { ManualClock } from "../../support/manual_clock.ts";

interface Stage {
  readonly clock: ManualClock;
  readonly metrics: MetricsRegistry;
  readonly election: ElectionEvents;
  readonly lines: string[];
  readonly events: string[];
  /** How often it was told that the API server answers again. */
  readonly recoveries: () => number;
}

function setStage(): Stage {
  const clock = new ManualClock();
  const metrics = new MetricsRegistry();
  const lines: string[] = [];
  const events: string[] = [];
  let recoveries = 0;
  const recovery = new Recovery();
  recovery.subscribe(() => (recoveries += 1));
  const write = (line: string): void => void lines.push(line.trim().slice(25));
  const election = new ElectionEvents({
    lease: { namespace: "n", name: "l" },
    identity: "me_1",
    events: { record: (_lease, { reason, message }) => void events.push(`${reason}: ${message}`) },
    metrics: createLeaderMetrics(metrics),
    clock,
    log: createLogger({ format: "text", write, now: () => clock.now() }),
    recovery,
  });
  return { clock, metrics, election, lines, events, recoveries: () => recoveries };
}

describe("ElectionEvents", () => {
  test("shows a process that does not lead from the start", () => {
    expect(setStage().metrics.render()).toContain('leader_election_master_status{name="l"} 0');
  });

  test("says each holder once, and that one was put out by hand", () => {
    const { election, lines } = setStage();
    for (const holder of ["b", "a", "a", "", "", "a"]) election.reportStandby(holder);
    expect(lines).toEqual([
      "INFO  Standing by: another process is leader lease=n/l identity=me_1 holder=b",
      "INFO  Standing by: another process is leader lease=n/l identity=me_1 holder=a",
      "INFO  Waiting: the Lease has no holder, but its last holder may still act as leader lease=n/l identity=me_1",
      "INFO  Standing by: another process is leader lease=n/l identity=me_1 holder=a",
    ]);
  });

  test("tells that the API server answers again when trouble is over, and when it leads", () => {
    const { election, recoveries } = setStage();
    election.reportStandby("a");
    election.noteAnswer();
    election.reportTrouble(new KubeError("conflict", "somebody else was faster"));
    election.noteAnswer();
    expect(recoveries()).toBe(0);
    election.reportTrouble(new KubeError("unavailable", "nobody answers"));
    expect(recoveries()).toBe(0);
    election.reportStandby("a");
    election.noteAnswer();
    expect(recoveries()).toBe(1);
    election.reportLeading(undefined);
    expect(recoveries()).toBe(2);
  });

  test("says that leadership was lost in the words of the Go controllers", () => {
    const { election, lines, events } = setStage();
    election.reportStopped(undefined, "b holds it");
    expect(lines[0]).toStartWith("ERROR leaderelection lost lease=n/l");
    expect(events).toEqual(["LeaderElection: me_1 stopped leading"]);
  });

  test("says a trouble again after a minute, another at once, and when it is over", () => {
    const { clock, election, lines } = setStage();
    const away = new KubeError("unavailable", "away");
    election.reportTrouble(away);
    election.reportTrouble(away);
    expect(lines).toHaveLength(1);
    election.reportTrouble(new KubeError("forbidden", "no"));
    expect(lines).toHaveLength(2);
    void clock.advance(60_000);
    election.reportTrouble(new KubeError("conflict", "somebody was faster"));
    election.noteAnswer();
    election.noteAnswer();
    expect(lines).toHaveLength(3);
    expect(lines[2]).toStartWith("INFO  The Lease can be used again");
  });

  test("writes an Event only of what the API server refuses", () => {
    const { election, events } = setStage();
    election.reportTrouble(new KubeError("unavailable", "away"));
    expect(events).toEqual([]);
    election.reportTrouble(new KubeError("invalid", "no such time"));
    expect(events).toEqual(["LeaderElectionFailed: no such time"]);
  });
});
