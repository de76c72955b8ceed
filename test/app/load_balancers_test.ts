/**
 * What a start says about load balancers that Landfall does not manage.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { Announcer } from "../../lib/app/announcer.ts";
import {
  describeUse,
  findLoadBalancers,
  warnOfLoadBalancers,
} from "../../lib/app/load_balancers.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { ScriptedKubeClient, type ScriptStep } from "../support/kube/scripted_kube_client.ts";
import { ManualClock, settle } from "../support/manual_clock.ts";
import { toBareApp } from "../support/process/bare_app.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const MISSING = { message: "no load balancers yet", advice: "keep the other", lease: "other" };
const { signal } = new AbortController();

/** A page of Services: those whose names begin with `lb` have a load balancer. */
function toPage(names: readonly string[], next?: string): ScriptStep {
  const items = names.map((name) => ({
    metadata: { name, namespace: "web", ...(name.startsWith("lb") && { finalizers: [FINALIZER] }) },
  }));
  return { page: { items, resourceVersion: "1", ...(next !== undefined && { continue: next }) } };
}

const refuse = (kind: KubeError["kind"]): ScriptStep => ({
  fail: new KubeError(kind, `is ${kind}`),
});

describe("findLoadBalancers()", () => {
  test("counts over all pages, and names the first ones", async () => {
    const client = new ScriptedKubeClient(new ManualClock(), [
      toPage(["a", "lb-1", "lb-2"], "next"),
      toPage(["lb-3", "lb-4", "lb-5", "lb-6", "b"]),
    ]);
    const use = await findLoadBalancers(client, signal);
    expect(use).toEqual({
      count: 6,
      first: ["web/lb-1", "web/lb-2", "web/lb-3", "web/lb-4", "web/lb-5"],
    });
    expect(client.requests).toEqual(["list limit=250", "list limit=250 continue=next"]);
    expect(describeUse(use)).toContain("6 Services have a load balancer of the cloud (web/lb-1, ");
    expect(describeUse(use)).toEndWith("web/lb-5, …)");
  });

  test("ends even if the pages do not", async () => {
    let pages = 0;
    const list = (): Promise<never> => {
      pages += 1;
      return Promise.resolve({ items: [], resourceVersion: "1", continue: "again" } as never);
    };
    expect(await findLoadBalancers({ list }, signal)).toEqual({ count: 0, first: [] });
    expect(pages).toBe(2_000);
  });
});

describe("warnOfLoadBalancers()", () => {
  const CHOSEN = "the controller service is chosen (by * too), and Landfall does not have it";
  const ONE = "1 Service has a load balancer of the cloud (web/lb)";
  const UNSEEN =
    "Landfall cannot list Services, so it does not know whether some need a load balancer: is forbidden";

  test.each<[string, boolean, ScriptStep, readonly string[], readonly string[]]>([
    ["service is chosen", true, toPage(["a"]), [CHOSEN], [CHOSEN]],
    ["a Service has one", false, toPage(["a", "lb"]), [ONE], [ONE]],
    ["both", true, toPage(["lb"]), [CHOSEN, ONE], [CHOSEN, ONE]],
    ["neither", false, toPage(["a"]), [], []],
    ["Services cannot be listed", false, refuse("forbidden"), [UNSEEN], []],
  ])(
    "warns in the log, and in an Event if it is certain: %s",
    async (_what, isServiceChosen, step, logged, said) => {
      const { records, events, client } = await start({ isServiceChosen }, [step]);
      expect(records).toEqual(logged.map((why) => ({ message: MISSING.message, why })));
      expect(events).toEqual(
        said.map((why) => `LoadBalancersNotManaged ${MISSING.message}: ${why}; ${MISSING.advice}`),
      );
      expect(client.requests).toEqual(["list limit=250"]);
    },
  );

  test("asks again after an outage, with growing pauses, until there is an answer", async () => {
    const outage = [refuse("unavailable"), refuse("throttled"), refuse("gone")];
    const { records, clock, ended } = await start({ isServiceChosen: false }, [
      ...outage,
      toPage(["lb"]),
    ]);
    expect(records).toEqual([]);
    for (const _ of outage) await clock.advance(10_000);
    await ended;
    expect(records).toEqual([{ message: MISSING.message, why: ONE }]);
  });

  test("ends without a word when it is stopped during an outage", async () => {
    const stop = new AbortController();
    const { records, ended } = await start(
      { isServiceChosen: false },
      [refuse("unavailable")],
      stop,
    );
    stop.abort(new Error("the process stops"));
    await ended;
    expect(records).toEqual([]);
  });

  test("asks nothing where there is nothing to say", async () => {
    const client = new ScriptedKubeClient(new ManualClock());
    await warnOfLoadBalancers(toBareApp({ client }), signal);
    expect(client.requests).toEqual([]);
  });

  async function start(
    needs: { readonly isServiceChosen: boolean },
    script: readonly ScriptStep[],
    stop = new AbortController(),
  ) {
    const clock = new ManualClock();
    const client = new ScriptedKubeClient(clock, script);
    const records: object[] = [];
    const events: string[] = [];
    const announcer = new Announcer({ metadata: { name: "pod" } });
    announcer.connect({
      record: (_object, { reason, message }) => void events.push(`${reason} ${message}`),
    });
    const log = {
      ...silentLogger,
      warn: (message: string, fields?: Readonly<Record<string, unknown>>) =>
        void records.push({ message, why: fields?.["why"] }),
    };
    const options = { loadBalancers: { ...MISSING, ...needs }, client, clock, log, announcer };
    const ended = warnOfLoadBalancers(toBareApp(options), stop.signal);
    await settle();
    return { records, events, client, clock, ended };
  }
});
