import { expect, test } from "bun:test";
import { findHostsPublished } from "../../../../lib/controllers/vino/hosts/conditions.ts";
import type { HostOutcome } from "../../../../lib/controllers/vino/hosts/types.ts";
import type { HostState } from "../../../../lib/controllers/vino/resource/vino.ts";

function toOutcome(state: HostState, name = "h"): HostOutcome {
  return {
    name,
    state,
    notices: [],
    ...(state !== "Published" && { message: `${name} ${state}` }),
  };
}

test.each<[HostState[], number, string]>([
  [[], 0, "True AllHostsPublished There is no machine that needs a BareMetalHost"],
  [
    ["Published", "Published"],
    0,
    "True AllHostsPublished All 2 complete machines have a BareMetalHost",
  ],
  [
    ["Published"],
    1,
    "False Progressing 1 machine is not complete. Landfall publishes or updates its host when it is",
  ],
  [["Published"], 0, "True AllHostsPublished The complete machine has a BareMetalHost"],
  [
    ["Published"],
    2,
    "False Progressing 2 machines are not complete. Landfall publishes or updates their hosts when they are",
  ],
  [["Published", "Publishing"], 0, "False Progressing h Publishing"],
  [["InUse"], 0, "False Progressing h InUse"],
  [["Paused", "Moved", "Publishing"], 0, "False HostsPaused h Paused; h Moved"],
  [["Paused", "NameTaken"], 1, "False NameTaken h NameTaken"],
  [["NameTaken", "Refused"], 0, "False UnableToPublishHosts h Refused"],
])("findHostsPublished() of %j with %d machines that wait", (states, waiting, expected) => {
  const hosts = states.map((state) => toOutcome(state));
  const { type, status, reason, message } = findHostsPublished(hosts, waiting);
  expect([type, `${status} ${reason} ${message}`]).toEqual(["HostsPublished", expected]);
});

test("findHostsPublished() says which hosts stay as they are", () => {
  const { reason, message } = findHostsPublished([toOutcome("Published")], 0, 2);
  expect(`${reason} ${message}`).toBe(
    "AllHostsPublished All 3 complete machines have a BareMetalHost. " +
      "Landfall does not update 2 BareMetalHosts: MachinesReady says why",
  );
});

test("findHostsPublished() names ten hosts, and counts the others", () => {
  const hosts = Array.from({ length: 12 }, (_, at) => toOutcome("Refused", `h${at}`));
  expect(findHostsPublished(hosts, 0).message).toEndWith("h9 Refused; and 2 more");
});

test("findHostsPublished() says why hosts have no management controller, each reason once", () => {
  const problem = 'bmcCredentials: there is no Secret "nosuch"';
  const hosts = ["a", "b"].map((name) => ({
    ...toOutcome("Published", name),
    bmcProblem: problem,
  }));
  const found = (some: readonly HostOutcome[], waiting = 0): string[] => {
    const { status, reason, message } = findHostsPublished(some, waiting);
    return [status, reason, message];
  };
  expect(found(hosts)).toEqual([
    "False",
    "BmcCredentialsUnusable",
    `2 hosts get no management controller. ${problem}`,
  ]);
  expect(found(hosts.slice(1))[2]).toBe(`1 host gets no management controller. ${problem}`);
  expect(found([...hosts, toOutcome("Refused", "c")])[1]).toBe("UnableToPublishHosts");
  expect(found(hosts, 1)[1]).toBe("Progressing");
});
