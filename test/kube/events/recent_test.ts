import { expect, test } from "bun:test";
import { RecentEvents } from "../../../lib/kube/events/recent.ts";

function note(recent: RecentEvents, uid: string, message: string): void {
  const involvedObject = { uid, name: uid };
  const times = { firstTimestamp: "t", lastTimestamp: "t" };
  recent.note({ metadata: { name: "e" }, involvedObject, reason: "R", message, ...times });
}

test("RecentEvents keeps ten of each object, and those of a thousand objects", () => {
  const recent = new RecentEvents();
  for (let at = 0; at < 12; at += 1) note(recent, "a", `${at}`);
  const object = (uid: string) => ({ metadata: { name: uid, uid } });
  expect(recent.list(object("a")).map(({ message }) => message)).toEqual(
    Array.from({ length: 10 }, (_, at) => `${11 - at}`),
  );
  for (let at = 0; at < 999; at += 1) note(recent, `b${at}`, "x");
  expect(recent.list(object("a"))).toHaveLength(10);
  note(recent, "c", "x");
  expect(recent.list(object("a"))).toEqual([]);
  expect(recent.list(object("c"))).toHaveLength(1);
});
