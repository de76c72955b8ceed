import { expect, test } from "bun:test";
import { NewestObjects } from "../../../lib/controllers/kinds/newest_objects.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { WrittenVersions } from "../../../lib/engine/written_versions.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { toService } from "../../support/services/service.ts";

const KEY = "web/shop";
const toVersion = (resourceVersion: string): Service =>
  toService({ metadata: { resourceVersion } });

function toStage(): { readonly store: Store<Service>; readonly services: NewestObjects<Service> } {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  store.replace([toVersion("1")], "1");
  return { store, services: new NewestObjects(SERVICES, store, new WrittenVersions()) };
}

test("NewestObjects has what our own writes made until the watch shows it or more", () => {
  const { store, services } = toStage();
  const read = (): string | undefined => services.get(KEY)?.metadata.resourceVersion;
  const second = services.note(toVersion("1"), toVersion("2"));
  services.note(second, toVersion("3"));
  expect(read()).toBe("3");
  expect([...services.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(["3"]);
  store.apply(toVersion("2"));
  expect(read()).toBe("3");
  store.apply(toVersion("3"));
  expect(read()).toBe("3");
  store.apply(toVersion("4"));
  expect(read()).toBe("4");
});

test("NewestObjects has nothing of a Service that is gone, nor for another one of its name", () => {
  const { store, services } = toStage();
  services.note(toVersion("1"), toVersion("2"));
  store.apply(toService({ metadata: { uid: "another", resourceVersion: "9" } }));
  expect(services.get(KEY)?.metadata.uid).toBe("another");
  services.note(toVersion("9"), toVersion("10"));
  store.remove(toVersion("11"));
  expect(services.get(KEY)).toBeUndefined();
});
