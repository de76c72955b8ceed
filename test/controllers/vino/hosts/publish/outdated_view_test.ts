/**
 * A publisher whose view of hosts is behind what it wrote.
 * @module
 */
import { expect, test } from "bun:test";
import { toBareMetalHost } from "../../../../../lib/controllers/vino/hosts/bare_metal_host_object.ts";
import {
  HostPublisher,
  type PublishRequest,
} from "../../../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { silentLogger } from "../../../../../lib/core/log.ts";
import { Store } from "../../../../../lib/kube/cache/store.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
  PAUSED,
  VINO_UID,
} from "../../../../../lib/kube/kinds/bare_metal_host.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { OWNER, toWanted } from "../../../../support/vino/wanted_hosts.ts";

const { signal } = new AbortController();
const WANTED = toWanted(0, {}, { bmhLabels: { tier: "gold" } });

interface BehindOptions {
  /** Whether the view has the host at all. @default {true} */
  readonly shown?: boolean;
  /** What the API server has in addition. @default {nothing} */
  readonly stored?: object;
}

/** A publisher with the host as it was made before labels changed, and all that it writes to hosts. */
function startBehind({ shown = true, stored = {} }: BehindOptions = {}): {
  readonly publisher: HostPublisher;
  readonly writes: string[];
} {
  const writes: string[] = [];
  const { metadata, ...rest } = toBareMetalHost(OWNER, toWanted());
  const host: BareMetalHost = {
    ...rest,
    metadata: { ...metadata, uid: "u", resourceVersion: "1" },
  };
  const hosts = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  hosts.replace(shown ? [host] : [], "1");
  const note = (verb: string, kind: { readonly kind: string }): Promise<never> => {
    if (kind.kind === BARE_METAL_HOSTS.kind) writes.push(verb);
    const after = { metadata: { ...metadata, uid: "u", resourceVersion: "2", labels: {} } };
    return Promise.resolve(after as never);
  };
  const client = {
    read: (kind: { readonly kind: string }) => {
      if (kind.kind !== BARE_METAL_HOSTS.kind) return Promise.resolve({ metadata: {} } as never);
      return Promise.resolve({ ...host, metadata: { ...host.metadata }, ...stored } as never);
    },
    create: (kind: { readonly kind: string }) => note("create", kind),
    patch: (kind: { readonly kind: string }) => note("patch", kind),
    delete: (kind: { readonly kind: string }) => note("delete", kind),
  };
  const vinoes = { values: () => [] };
  const clock = new ManualClock();
  const options = { client, clock, hosts, vinoes };
  return { publisher: new HostPublisher(options), writes };
}

test.each<[what: string, request: Partial<PublishRequest>, writes: string[]]>([
  ["labels", { hosts: [WANTED] }, ["patch"]],
  ["a deletion", { unwanted: [WANTED.name] }, ["delete"]],
  ["a host that is made again", { hosts: [{ ...WANTED, machineId: "vm-new" }] }, ["delete"]],
])(
  "publish() does not repeat %s that the view does not show yet",
  async (_what, request, expected) => {
    const { publisher, writes } = startBehind();
    const whole = { owner: OWNER, hosts: [], unwanted: [], paused: new Set<string>() };
    for (let round = 0; round < 3; round += 1)
      await publisher.publish({ ...whole, publishesMoved: false, ...request }, signal);
    expect(writes).toEqual(expected);
  },
);

test.each<[what: string, stored: object, state: string, writes: string[]]>([
  ["deletes a host", {}, "Removing", ["delete"]],
  ["keeps a host in use", { spec: { consumerRef: { kind: "M", name: "m" } } }, "InUse", []],
  [
    "keeps a paused host",
    {
      metadata: {
        name: WANTED.name,
        labels: { [VINO_UID]: OWNER.uid },
        annotations: { [PAUSED]: "" },
      },
    },
    "Paused",
    [],
  ],
])("publish() %s that the view does not show at all", async (_what, stored, state, expected) => {
  const { publisher, writes } = startBehind({ shown: false, stored });
  const whole = { owner: OWNER, hosts: [], paused: new Set<string>(), publishesMoved: false };
  const { unwanted } = await publisher.publish({ ...whole, unwanted: [WANTED.name] }, signal);
  expect<unknown>([unwanted.map((one) => one.state), writes]).toEqual([[state], expected]);
});
