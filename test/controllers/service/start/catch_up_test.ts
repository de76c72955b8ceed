import { describe, expect, test } from "bun:test";
import { catchUp } from "../../../../lib/controllers/service/start/catch_up.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../../support/kube/service_server.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

function start(prepare: (server: ServiceServer) => void): {
  readonly clock: ManualClock;
  readonly server: ServiceServer;
  readonly stop: AbortController;
  readonly state: { isDone: boolean };
} {
  const clock = new ManualClock();
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(clock, store);
  store.replace([], "1");
  prepare(server);
  const stop = new AbortController();
  const state = { isDone: false };
  const options = { client: server, clock, log: silentLogger, services: store };
  const run = async (): Promise<void> => {
    await catchUp(options, stop.signal);
    state.isDone = true;
  };
  run().catch(() => undefined);
  return { clock, server, stop, state };
}

describe("catchUp()", () => {
  test("is done at once if the watch shows what the list has", async () => {
    const { clock, server, state } = start((one) => one.add("shop"));
    await clock.advance(0);
    expect(state.isDone).toBe(true);
    expect(server.requests).toEqual(["list services"]);
    expect(clock.pending).toBe(0);
  });

  test("waits for a write of the leader before that the watch does not show yet", async () => {
    const { clock, server, state } = start((one) => {
      one.add("shop");
      one.isWatchHeld = true;
      one.change("web/shop", { metadata: { annotations: { a: "1" } } });
    });
    await clock.advance(5_000);
    expect(state.isDone).toBe(false);
    server.releaseWatch();
    await clock.advance(0);
    expect(state.isDone).toBe(true);
  });

  test("lists again if the watch went past the version of the list", async () => {
    const { clock, server, state } = start((one) => {
      one.add("shop");
      one.isWatchHeld = true;
      one.change("web/shop", { metadata: { annotations: { a: "1" } } });
    });
    await clock.advance(0);
    server.change("web/shop", { metadata: { annotations: { a: "2" } } });
    server.releaseWatch();
    await clock.advance(9_000);
    expect(state.isDone).toBe(false);
    await clock.advance(1_000);
    expect(state.isDone).toBe(true);
    expect(server.requests.length).toBe(2);
  });

  test("ends by its signal", async () => {
    const { clock, stop, state } = start((one) => {
      one.isWatchHeld = true;
      one.add("shop");
    });
    await clock.advance(0);
    stop.abort();
    await clock.advance(0);
    expect([state.isDone, clock.pending]).toEqual([false, 0]);
  });
});
