import { expect, test } from "bun:test";
import { HostCredentialsSource } from "../../../../lib/controllers/vino/redfish/host_credentials.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { SecretsDouble } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const HOST = { namespace: "metal", host: "edge-worker-0" } as const;
const OWN = "edge-worker-0-bmc-credentials";
const LOGIN = { username: "admin", password: "p" };

function create() {
  const secrets = new SecretsDouble();
  const clock = new ManualClock();
  return { secrets, clock, source: new HostCredentialsSource({ client: secrets, clock }) };
}

test("HostCredentialsSource takes both texts of an old manifest, and reads nothing", async () => {
  const { secrets, source } = create();
  expect(await source.find({ ...HOST, wanted: LOGIN }, signal)).toEqual(LOGIN);
  expect(secrets.reads).toBe(0);
});

test("HostCredentialsSource reads the Secret of the Vino once a minute", async () => {
  const { secrets, clock, source } = create();
  secrets.set("shared", LOGIN);
  const wanted = { secretRef: { name: "shared" } };
  for (let at = 0; at < 3; at += 1) {
    expect(await source.find({ ...HOST, wanted }, signal)).toEqual(LOGIN);
  }
  expect(secrets.reads).toBe(1);
  secrets.set("shared", { ...LOGIN, password: "new" });
  await clock.advance(60_000);
  expect(await source.find({ ...HOST, wanted }, signal)).toEqual({ ...LOGIN, password: "new" });
});

const IN_SECRET = 'bmcCredentials: Secret "shared"';
const COLON = "has a colon, and metal3 cannot sign in with such a name";

test.each([
  [undefined, 'bmcCredentials: there is no Secret "shared"'],
  [{}, `${IN_SECRET} has no "username" and "password", or an empty one`],
  [{ username: "admin" }, `${IN_SECRET} has no "password", or an empty one`],
  [{ username: "", password: "p" }, `${IN_SECRET} has no "username", or an empty one`],
  [{ username: "a:b", password: "p" }, `${IN_SECRET}: username ${COLON}`],
])(
  "HostCredentialsSource says why the Secret of the Vino cannot be used: %j",
  async (texts, problem) => {
    const { secrets, clock, source } = create();
    if (texts) secrets.set("shared", texts);
    const question = { ...HOST, wanted: { secretRef: { name: "shared" } } };
    expect(await source.find(question, signal)).toEqual({ problem });
    secrets.set("shared", { ...LOGIN, password: "p:q" });
    await clock.advance(30_000);
    expect(await source.find(question, signal)).toEqual({ ...LOGIN, password: "p:q" });
  },
);

test("HostCredentialsSource refuses a username with a colon in an old manifest", async () => {
  const wanted = { ...LOGIN, username: "a:b" };
  const problem = `bmcCredentials.username ${COLON}`;
  expect(await create().source.find({ ...HOST, wanted }, signal)).toEqual({ problem });
});

test("HostCredentialsSource replaces what a host cannot use of its own Secret", async () => {
  const { secrets, source } = create();
  secrets.set(OWN, { ...LOGIN, username: "a:b" });
  const made = await source.find({ ...HOST, wanted: undefined }, signal);
  expect(made).toMatchObject({ username: "edge-worker-0" });
});

test("HostCredentialsSource makes a password for each host, and keeps it", async () => {
  const { secrets, clock, source } = create();
  const made = await source.find({ ...HOST, wanted: undefined }, signal);
  if ("problem" in made) throw new Error(made.problem);
  expect(made.username).toBe("edge-worker-0");
  expect(made.password).toMatch(/^[\w-]{32}$/);
  expect(await source.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
  const other = await source.find({ ...HOST, host: "edge-worker-1", wanted: undefined }, signal);
  expect(other).not.toMatchObject({ password: made.password });
  secrets.set(OWN, { ...made });
  await clock.advance(600_000);
  expect(await source.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
  const later = new HostCredentialsSource({ client: secrets, clock });
  expect(await later.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
});

test("HostCredentialsSource makes no password while it does not know whether there is one", async () => {
  const { secrets, source } = create();
  secrets.onCall = () => {
    throw new KubeError("unavailable", "no answer");
  };
  await expect(source.find({ ...HOST, wanted: undefined }, signal)).rejects.toThrow(KubeError);
});
