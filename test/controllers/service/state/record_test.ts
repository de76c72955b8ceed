import { describe, expect, test } from "bun:test";
import { ManagedServices } from "../../../../lib/controllers/service/state/managed.ts";
import { NewestObjects } from "../../../../lib/controllers/kinds/newest_objects.ts";
import { createRecord } from "../../../../lib/controllers/service/state/record.ts";
import { ServiceWriter } from "../../../../lib/controllers/service/state/service_writer.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { WrittenVersions } from "../../../../lib/engine/written_versions.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../../support/kube/service_server.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const KEY = "web/shop";
const RECORD = "landfall.dev/load-balancer";
const { signal } = new AbortController();

function toStage(): {
  readonly server: ServiceServer;
  readonly services: NewestObjects<Service>;
  readonly managed: ManagedServices;
  save(text: string | undefined): Promise<void>;
} {
  const clock = new ManualClock();
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(clock, store);
  const services = new NewestObjects(SERVICES, store, new WrittenVersions());
  const managed = new ManagedServices(clock);
  const writer = new ServiceWriter({ client: server, services, inputs: () => [] });
  const { metadata } = managed.note(server.add("shop")).service;
  const record = createRecord(KEY, metadata.uid, { services, managed, writer });
  return { server, services, managed, save: (text) => record.save(text, signal) };
}

const read = (server: ServiceServer): string | undefined =>
  server.find(KEY)?.metadata.annotations?.[RECORD];

describe("createRecord()", () => {
  test("keeps a text in the annotation, and removes it", async () => {
    const { server, save } = toStage();
    await save("one");
    expect(read(server)).toBe("one");
    await save("one");
    expect(server.writes.length).toBe(1);
    await save(undefined);
    expect(read(server)).toBeUndefined();
    expect(server.writes.every(({ path }) => path.subresource === "status")).toBe(true);
  });

  test("knows its own writes before the watch shows them", async () => {
    const { server, services, save } = toStage();
    server.isWatchHeld = true;
    await save("one");
    await save("two");
    expect(read(server)).toBe("two");
    expect(services.get(KEY)?.metadata.annotations?.[RECORD]).toBe("two");
    expect(server.requests).toEqual([]);
  });

  test("writes again when another program changed other fields at the same time", async () => {
    const { server, save } = toStage();
    server.isWatchHeld = true;
    server.change(KEY, { metadata: { labels: { a: "1" } } });
    await save("one");
    expect(server.find(KEY)?.metadata).toMatchObject({ labels: { a: "1" } });
    expect(read(server)).toBe("one");
  });

  test("does not overwrite a record that another program changed at the same time", async () => {
    const { server, save } = toStage();
    server.isWatchHeld = true;
    server.change(KEY, { metadata: { annotations: { [RECORD]: "forged" } } });
    expect(save("one")).rejects.toThrow(KubeError);
    expect(read(server)).toBe("forged");
  });

  test("does not write to another Service of the same name", async () => {
    const { server, managed, save } = toStage();
    server.remove(KEY);
    server.add("shop", { metadata: { uid: "other" } });
    await save("one");
    expect(read(server)).toBeUndefined();
    expect(managed.get(KEY)?.service.metadata.annotations?.[RECORD]).toBe("one");
  });

  test("refuses more than 1 KiB", () => {
    const { save } = toStage();
    expect(save("é".repeat(513))).rejects.toThrow("the limit is 1024 bytes");
  });
});
