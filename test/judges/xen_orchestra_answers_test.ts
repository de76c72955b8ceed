/**
 * The contract of Xen Orchestra's API: the answers that were captured, request by request, for the double and for a
 * real server. What a change does is in `xen_orchestra_test.ts`.
 * @module
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { CAPTURE_NAMES, readCaptureText } from "../support/cloud/captures.ts";
import { type Answer, openPlace, READ_ONLY, type Shown } from "./xen_orchestra_place.ts";

/** A token lives a minute at least, and a creation takes some calls of a hypervisor. */
const TIMEOUT_MS = 150_000;
/** As long as reads may be late. */
const SHOWN_MS = 2_000;
const NOWHERE = "00000000-0000-4000-8000-000000000000";
const S: unknown = expect.any(String);
const N: unknown = expect.any(Number);
const some = (fields: object): unknown => expect.objectContaining(fields);

const place = await openPlace();
const { password, readOnly, noRights } = place.credentials;
const judged = {
  "HTTP Basic (XO_PASSWORD_FILE)": password,
  "a user who only reads (XO_READ_ONLY_TOKEN_FILE)": readOnly,
  "a user without rights (XO_NO_RIGHTS_TOKEN_FILE)": noRights,
  "a token that is revoked (no request for it is known)": place.revoke,
};
for (const [what, given] of Object.entries(judged)) {
  if (given === undefined) console.warn(`NOT JUDGED: ${what}`);
}

const site = await place.findSite();
const me = String((await place.ask("GET", "/users/me")).location).replace("/rest/v0/users/", "");
const name = `judge-${process.pid}-${Date.now().toString(36)}`;
const asked = { template: site.template["uuid"], name_label: name, cpus: 2 };
const created = await place.ask("POST", `/pools/${site.poolId}/actions/create_vm?sync=true`, asked);
const vmId = String(Object(created.body).id);
afterEach(() => place.wait(300));
afterAll(async () => {
  await place.ask("DELETE", `/vms/${vmId}`);
  await place.stop();
});
await place.wait(300);

/** What tables call the objects of this site. */
const WORDS: Readonly<Record<string, string>> = {
  $VM: vmId,
  $UPPER: vmId.toUpperCase(),
  $NAME: name,
  $POOL: site.poolId,
  $HOST: site.hostId,
  $DOM0: String((await place.list("vm-controllers"))[0]?.id),
  $TEMPLATE: String(site.template["uuid"]),
  $NETWORK: site.networkId,
  $SR: site.srId,
  $USER: me,
  $TOKEN: place.token,
};
const fill = (text: string): string =>
  text.replaceAll(/\$[A-Z\d]+/g, (word) => WORDS[word] ?? word);

/** Words in place of what only this site has. */
function toTold(body: unknown): unknown {
  let text = JSON.stringify(body).replaceAll(/OpaqueRef:[-\w]+/g, "REF");
  for (const [word, value] of Object.entries(WORDS)) text = text.replaceAll(value, word);
  return JSON.parse(text);
}

interface More {
  /** The token of another user; empty: none. */
  readonly as?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Headers of the answer. */
  readonly gives?: Readonly<Record<string, string>>;
}
type Row = readonly [request: string, status: number, body: unknown, more?: More];

async function send(request: string, more: More = {}): Promise<Answer> {
  const [method = "", path = ""] = fill(request).split(/ (.*)/);
  const { as = place.token, headers = {}, body } = more;
  const cookie =
    as === "" || headers["cookie"] !== undefined ? {} : { cookie: `authenticationToken=${as}` };
  const filled = Object.entries(headers).map(([key, value]) => [key, fill(value)]);
  const content = typeof body === "string" ? body : JSON.stringify(body);
  return await place.send(path.startsWith("/rest") ? path : `/rest/v0${path}`, {
    method,
    headers: {
      ...cookie,
      ...Object.fromEntries(filled),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(content !== undefined && { body: fill(content) }),
  });
}

/** The same for each row: its status, its body, its headers. @param asker Who sends all of them */
function answers(rows: readonly Row[], asker: Pick<More, "as"> = { as: place.token }): void {
  test.skipIf(asker.as === undefined).each(rows.map(([...row]) => row))(
    "%s: %d",
    async (request, status, wanted, more = {}) => {
      const answer = await send(request, { ...asker, ...more });
      expect([answer.status, toTold(answer.body)]).toEqual([status, wanted]);
      for (const [header, value] of Object.entries(more.gives ?? {})) {
        expect(toTold(answer.headers.get(header))).toBe(value);
      }
    },
    TIMEOUT_MS,
  );
}

const gives = (header: string, value: string): More => ({ gives: { [header]: value } });
const REFUSED = { error: "invalid credentials" };
const BASIC = gives("www-authenticate", 'Basic realm="xo"');
const JSON_TYPE = gives("content-type", "application/json; charset=utf-8");
const HTML = gives("content-type", "text/html; charset=utf-8");
const page = (request: string): unknown =>
  expect.stringContaining(`<pre>Cannot ${request.replace(" /", " /rest/v0/")}</pre>`);
const failed = (error: unknown, data: object = {}): object => ({ error, data });
const noSuch = (type: string, id: string): object => failed(`no such ${type} ${id}`, { id, type });
const invalid = (key: string, what: string, value: unknown): object => ({
  [key]: { message: `invalid ${what}`, value },
});
const excess = (key: string): object => ({
  [`body.${key}`]: {
    message: `"${key}" is an excess property and therefore is not allowed`,
    value: key,
  },
});
const lacking = (...missingPrivileges: object[]): object =>
  failed("not enough privileges", { missingPrivileges });
const ofVm = (action: string): object => lacking({ objectId: "$VM", action, resource: "vm" });
const unparsed = (stringToParse: string): object =>
  failed("parse error: expected end of input at position 0", { stringToParse });

describe("who asks", () => {
  const cookie = (text: string): More => ({ headers: { cookie: text } });
  const authorization = (text: string): More => ({ as: "", headers: { authorization: text } });
  answers([
    ["GET /vms", 401, REFUSED, { as: "", ...BASIC }],
    ["GET /nope", 404, page("GET /nope"), { as: "", ...HTML }],
    ["GET /ping", 200, { result: "pong", timestamp: N }, { as: "" }],
    ["GET /gui-routes", 200, { xo5: "/v5", xo6: "/v6" }, { as: "" }],
    ["GET /vms", 401, REFUSED, { ...cookie("authenticationToken=nope"), ...BASIC }],
    ["GET /ping", 401, REFUSED, { ...cookie("authenticationToken=nope"), ...BASIC }],
    ["GET /vms?filter=id:$VM", 200, ["/rest/v0/vms/$VM"], cookie("token=$TOKEN")],
    [
      "GET /vms",
      400,
      { error: "Having multiple authentication methods is not supported, please choose one" },
      { headers: { authorization: "Basic eDp5" } },
    ],
    ["GET /vms", 400, { error: "Malformed Authorization header" }, authorization("$TOKEN")],
    ["GET /vms", 401, REFUSED, { ...authorization("Bearer $TOKEN"), ...BASIC }],
    ["DELETE /vms/$VM", 401, REFUSED, cookie("authenticationToken=nope")],
    ["GET /users/$USER", 200, some({ id: "$USER", permission: "admin" })],
    ["GET /users/me", 307, S, gives("location", "/rest/v0/users/$USER")],
    [
      "GET /users/me/authentication_tokens",
      307,
      S,
      gives("location", "/rest/v0/users/$USER/authentication_tokens"),
    ],
  ]);

  const creation = { template: "$TEMPLATE", name_label: "x" };
  answers(
    [
      ["PATCH /vms/$VM", 401, REFUSED, { body: { nameLabel: "x" } }],
      ["PUT /vms/$VM/tags/x", 401, REFUSED],
      ["POST /vms/$VM/actions/start", 401, REFUSED],
      ["POST /pools/$POOL/actions/create_vm", 401, REFUSED, { body: creation }],
      ["POST /vifs", 401, REFUSED, { body: { vmId: "$VM", networkId: "$NETWORK" } }],
      ["DELETE /vms/$VM", 401, REFUSED, BASIC],
    ],
    { as: "" },
  );

  test.skipIf(password === undefined)(
    "a wrong password holds up the right one for two seconds",
    async () => {
      const right = `Basic ${btoa(password ?? "")}`;
      const wrong = `Basic ${btoa(`${password?.split(":")[0]}:not the password`)}`;
      const tries = [];
      for (const text of [right, wrong, wrong, right]) {
        const { status, body } = await send("GET /vms?limit=0", authorization(text));
        tries.push([status, body]);
      }
      const tooFast = [500, { error: "too fast authentication tries" }];
      expect(tries).toEqual([[200, []], [401, REFUSED], tooFast, tooFast]);
      await place.wait(2_100);
      expect((await send("GET /vms?limit=0", authorization(right))).status).toBe(200);
    },
    TIMEOUT_MS,
  );
});

describe("paths and objects", () => {
  answers([
    ["GET /rest/v0", 302, S, gives("location", "/rest/v0/docs")],
    ["GET /rest/vms", 404, expect.stringContaining("Cannot GET /rest/vms"), HTML],
    ["GET /nope", 404, page("GET /nope"), HTML],
    ["GET /xoa", 404, page("GET /xoa"), HTML],
    ["GET /xoa/dashboard", 404, page("GET /xoa/dashboard"), HTML],
    ["POST /vms", 404, page("POST /vms"), { body: {}, ...HTML }],
    ["OPTIONS /vms", 200, "GET,HEAD", gives("allow", "GET,HEAD")],
    ["HEAD /vms", 200, "", JSON_TYPE],
    ["GET /vms/$VM", 200, some({ id: "$VM", type: "VM" }), JSON_TYPE],
    [`GET /vms/${NOWHERE}`, 404, noSuch("VM", NOWHERE), JSON_TYPE],
    ["GET /vms/not-a-uuid", 404, noSuch("VM", "not-a-uuid")],
    ["GET /vms/$UPPER", 404, noSuch("VM", "$UPPER")],
    ["GET /vms/$HOST", 404, noSuch("VM", "$HOST")],
    ["GET /vms/$DOM0", 404, noSuch("VM", "$DOM0")],
    ["GET /vms/$TEMPLATE", 404, noSuch("VM", "$TEMPLATE")],
    ["GET /hosts/$POOL", 404, noSuch("host", "$POOL")],
    [`GET /pools/${NOWHERE}`, 404, noSuch("pool", NOWHERE)],
    ["GET /tasks/xyz", 404, noSuch("task", "xyz")],
    ["GET /tasks/xyz?wait=result", 404, noSuch("task", "xyz")],
    ["GET /tasks/xyz?wait", 404, noSuch("task", "xyz")],
  ]);

  test("a snapshot is no machine", async () => {
    const path = `/vms/${vmId}/actions/snapshot?sync=true`;
    const { id } = Object((await place.ask("POST", path, { name_label: "s" })).body);
    await place.wait(300);
    const { status, body } = await place.ask("GET", `/vms/${id}`);
    expect([status, body]).toEqual([404, noSuch("VM", id)]);
    await place.ask("DELETE", `/vm-snapshots/${id}`);
  });

  // Types are those of the captured objects, where there are some.
  const machine =
    "id uuid type $pool _xapiRef name_label name_description power_state $container CPUs memory " +
    "addresses blockedOperations current_operations boot tags VIFs $VBDs";
  test.each([
    ["pools", "id uuid type _xapiRef name_label master default_SR tags"],
    [
      "hosts",
      "id uuid type $pool name_label address enabled power_state CPUs memory residentVms tags",
    ],
    ["vms", machine],
    ["vm-templates", machine],
    ["vm-controllers", machine],
    ["networks", "id uuid type $pool name_label bridge MTU tags"],
    [
      "vifs",
      "id uuid type $pool $VM $network device MAC attached lockingMode allowedIpv4Addresses",
    ],
    ["servers", "id host label status enabled poolId master"],
    ["srs", "id uuid type $pool name_label content_type size physical_usage"],
    ["vdis", "id uuid type $pool name_label size $SR $VBDs tags"],
  ])("%s have %s, alone as in a list", async (collection, fields) => {
    const list = await place.list(collection);
    const wanted = expect.arrayContaining(fields.split(" "));
    expect(Object.keys((await place.read(collection, String(list[0]?.id))) ?? {})).toEqual(wanted);
    const captured = readCaptured(collection);
    for (const one of list) {
      expect([Object.keys(one), one["href"]]).toEqual([wanted, `/rest/v0/${collection}/${one.id}`]);
      for (const [field, value] of captured.length === 0 ? [] : Object.entries(one)) {
        // No machine of the captured list was made by Xen Orchestra.
        if (field === "creation") continue;
        const kinds = captured.filter((other) => field in other).map((other) => kind(other[field]));
        // A later version may have more.
        const isKnown = kinds.includes(kind(value)) || (kinds.length === 0 && !place.isDouble);
        expect([field, isKnown]).toEqual([field, true]);
      }
    }
  });
});

/** The objects of a captured list. */
function readCaptured(collection: string): Record<string, unknown>[] {
  const capture = `${collection}-all-fields`;
  if (!CAPTURE_NAMES.includes(capture)) return [];
  return JSON.parse(readCaptureText(capture)).response.body;
}

function kind(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

describe("lists", () => {
  const OWN = "/rest/v0/vms/$VM";
  const own = (query: string): string => `GET /vms?filter=id:$VM${query}`;
  answers([
    [own(""), 200, [OWN]],
    ["GET /vms/?filter=id:$VM", 200, [OWN]],
    [own("&fields="), 200, [{ href: OWN }]],
    [own("&fields=id,name_label"), 200, [{ id: "$VM", name_label: "$NAME", href: OWN }]],
    [
      own("&fields=name_label,CPUs.number,memory.size,nonexistent"),
      200,
      [{ name_label: "$NAME", CPUs: { number: 2 }, memory: { size: N }, href: OWN }],
    ],
    [own("&limit=0"), 200, []],
    [own("&limit=-1"), 200, [OWN]],
    [own("&limit=1.5"), 200, [OWN]],
    ["GET /vm-templates?limit=2", 200, [S, S]],
    [own("&limit=abc"), 422, failed(invalid("limit", "float number", "abc"))],
    [own("&limit="), 422, failed(invalid("limit", "float number", ""))],
    [
      own("&ndjson=true&markdown=true"),
      422,
      failed("Cannot use both ndjson and markdown output formats simultaneously"),
    ],
    ["GET /vms?filter=name_label:%22abc", 200, []],
    ["GET /vms?filter=(a%20b", 400, unparsed("(a b")],
    ["GET /vms?filter=%7B%22a%22%3A1%7D", 400, unparsed('{"a":1}')],
    [
      "GET /vms?filter=name_label:/(/",
      400,
      failed(expect.stringMatching(/^Invalid regular expression: /), {
        stringToParse: "name_label:/(/",
      }),
    ],
  ]);

  test("are 304 to who has them, until they change", async () => {
    const list = "GET /vms?filter=id:$VM&fields=id,name_description";
    const etag = (await send(list)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\da-f]+-.{27}"$/);
    const again = (): Promise<Answer> => send(list, { headers: { "if-none-match": etag } });
    const known = await again();
    expect([known.status, known.body, known.headers.get("etag")]).toEqual([304, "", etag]);
    await place.ask("PATCH", `/vms/${vmId}`, { nameDescription: etag });
    await place.wait(SHOWN_MS);
    const changed = await again();
    expect([changed.status, changed.body]).toMatchObject([200, [{ name_description: etag }]]);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });
});

describe("changes", () => {
  const TAG = "/vms/$VM/tags/k8s.io%2Fcluster%3Ademo%20%C3%A9";
  /** Beside those of its template. */
  const tags = (found: unknown): Row => [
    "GET /vms?filter=id:$VM&fields=tags",
    200,
    [{ tags: found, href: S }],
  ];
  answers([
    [`PUT ${TAG}`, 204, ""],
    [`PUT ${TAG}`, 204, ""],
    tags(expect.arrayContaining(["k8s.io/cluster:demo é"])),
    [`DELETE ${TAG}`, 204, ""],
    tags(expect.not.arrayContaining(["k8s.io/cluster:demo é"])),
    ["DELETE /vms/$VM/tags/zzz", 204, ""],
    ["PATCH /vms/$VM", 204, "", { body: { nameDescription: "hello" } }],
    ["PATCH /vms/$VM", 422, failed(excess("nope")), { body: { nope: 1 } }],
    [
      "PATCH /vms/$VM",
      422,
      failed({ ...invalid("tags.$0", "string value", 5), ...excess("name_label") }),
      { body: { tags: 5, name_label: 3 } },
    ],
    [`POST /vms/${NOWHERE}/actions/start`, 404, noSuch("VM", NOWHERE)],
    ["POST /vms/$VM/actions/fly", 404, page("POST /vms/$VM/actions/fly"), HTML],
    // Its words are those of the engine.
    [
      "POST /vms/$VM/actions/start",
      500,
      { error: expect.stringMatching(/JSON/) },
      { body: "{bad" },
    ],
    [
      `POST /pools/${NOWHERE}/actions/create_vm?sync=true`,
      404,
      noSuch("pool", NOWHERE),
      { body: { template: "$TEMPLATE", name_label: "x" } },
    ],
    ["POST /vms/$VM/actions/start?sync=true", 204, "", { body: {} }],
    [
      "POST /vms/$VM/actions/start?sync=true",
      500,
      {
        error: "VM_BAD_POWER_STATE(REF, halted, running)",
        info: "This is a XenServer/XCP-ng error, not an XO error",
      },
    ],
  ]);

  /** Starts an action. @returns its task, at its end */
  async function end(action: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, location, body } = await place.ask("POST", `/vms/${vmId}/actions/${action}`);
    const { taskId } = Object(body);
    expect([status, body, location]).toEqual([202, { taskId: S }, `/rest/v0/tasks/${taskId}`]);
    for (;;) {
      const { body: task } = await place.ask("GET", `/tasks/${taskId}?wait=true`);
      if (Object(task).status !== "pending") return Object(task);
    }
  }

  test(
    "that are not waited for are tasks",
    async () => {
      await place.ask("POST", `/vms/${vmId}/actions/hard_shutdown?sync=true`);
      const about = { objectType: "VM", objectId: vmId, userId: me, type: "xo:rest-api:action" };
      const times = { id: S, start: N, updatedAt: N, end: N };
      const properties = { ...about, args: {}, name: "REST API: start VM" };
      expect(await end("start")).toEqual({ ...times, status: "success", properties });
      const { result, ...task } = await end("start");
      expect(task).toEqual({ ...times, status: "failure", properties });
      const error = { code: "VM_BAD_POWER_STATE", params: [S, "halted", "running"] };
      expect(result).toEqual(some({ ...error, message: S, name: S }));
      const list = "GET /tasks?fields=id,status&filter=status:failure";
      await place.wait(100);
      const { id } = task;
      const href = `/rest/v0/tasks/${id}`;
      expect((await send(list)).body).toContainEqual({ id, status: "failure", href });
      // Nothing was sent with it, so nothing is kept.
      const stopped = await end("clean_shutdown");
      expect(stopped["properties"]).toEqual({ ...about, name: "REST API: clean shutdown VM" });
    },
    TIMEOUT_MS,
  );
});

describe("tokens", () => {
  const PATH = "POST /users/$USER/authentication_tokens";
  const expires = (expiresIn: string): More => ({ body: { expiresIn } });
  answers([
    [PATH, 500, { error: "too high expiresIn duration: 2 years" }, expires("2 years")],
    [PATH, 500, { error: "invalid expiresIn duration: 10 s" }, expires("10 s")],
  ]);

  async function mint(more: object, request = PATH): Promise<Shown> {
    const { status, body } = await send(request, { body: { description: "judged", ...more } });
    const id: unknown = expect.stringMatching(/^[-\w]{43}$/);
    const token = { id, user_id: me, created_at: N, expiration: N, description: S };
    expect([status, body]).toEqual([201, { token: some(token) }]);
    return Object(body).token;
  }
  const read = async (as: string): Promise<unknown> => (await send("GET /vms/$VM", { as })).status;
  const write = async (as: string): Promise<unknown> => {
    const { status, body } = await send("PUT /vms/$VM/tags/x", { as });
    return [status, body];
  };

  test(
    "are renewed for the same client, and refused when they expire",
    async () => {
      const client = { id: name };
      const first = await mint({ client, expiresIn: "60 days" });
      expect([first["client"], first["description"]]).toEqual([client, "judged"]);
      const again = await mint({ client, expiresIn: "1 minute", description: "renewed" });
      expect([again.id, again["created_at"], again["description"]]).toEqual([
        first.id,
        first["created_at"],
        "renewed",
      ]);
      expect(Number(again["expiration"])).toBeLessThan(Number(first["expiration"]));
      const { body } = await send("GET /users/$USER/authentication_tokens");
      expect(body).toContainEqual(some({ id: first.id, client, user_id: me }));
      expect(await read(first.id)).toBe(200);
      await place.wait(61_000);
      expect([await read(first.id), await write(first.id)]).toEqual([401, [401, REFUSED]]);
    },
    TIMEOUT_MS,
  );

  test.skipIf(place.revoke === undefined)("are refused when they are revoked", async () => {
    const { id } = await mint({}, "POST /users/authentication_tokens");
    expect(await read(id)).toBe(200);
    place.revoke?.(id);
    expect([await read(id), await write(id)]).toEqual([401, [401, REFUSED]]);
  });
});

describe("a user who only reads", () => {
  answers(
    [
      ["GET /vms?filter=id:$VM", 200, ["/rest/v0/vms/$VM"]],
      ["GET /vms/$VM", 200, some({ name_label: "$NAME" })],
      ["GET /hosts/$HOST", 200, some({ id: "$HOST" })],
      ["GET /hosts?limit=1", 200, [S]],
      ["GET /pools/$POOL", 200, some({ id: "$POOL" })],
      ["GET /pools?filter=id:$POOL", 200, ["/rest/v0/pools/$POOL"]],
      ["GET /networks?limit=1", 200, [S]],
      ["GET /vifs?limit=1", 200, [S]],
      [
        "GET /servers?fields=status,poolId&filter=poolId:$POOL",
        200,
        [{ status: "connected", poolId: "$POOL", href: S }],
      ],
      ["GET /srs", 200, []],
      [`GET /vms/${NOWHERE}`, 404, noSuch("VM", NOWHERE)],
      ["PUT /vms/$VM/tags/x", 403, ofVm("update:tags")],
      // A right for each field that is known; then what the body says.
      [
        "PATCH /vms/$VM",
        403,
        lacking(
          { objectId: "$VM", action: "update:cpus", resource: "vm" },
          { objectId: "$VM", action: "update:tags", resource: "vm" },
        ),
        { body: { tags: 5, nope: 1, cpus: 3 } },
      ],
      ["PATCH /vms/$VM", 422, failed(excess("nope")), { body: { nope: 1 } }],
      ["PATCH /vms/$VM", 204, "", { body: {} }],
      ["DELETE /vms/$VM", 403, ofVm("delete")],
    ],
    { as: readOnly },
  );

  test.skipIf(readOnly === undefined)("is told its rights", async () => {
    const { location } = await send("GET /users/me", { as: readOnly });
    const path = String(location).replace("/rest/v0", "");
    expect((await send(`GET ${path}`, { as: readOnly })).body).toMatchObject({
      permission: "none",
    });
    const { body } = await send(`GET ${path}/acl-privileges?fields=*`, { as: readOnly });
    const allowed = READ_ONLY.map((one) => some({ ...one, effect: "allow" }));
    expect(body).toEqual(expect.arrayContaining(allowed));
    expect(body).toHaveLength(allowed.length);
  });
});

describe("a user without rights", () => {
  const creation = {
    template: "$TEMPLATE",
    name_label: "x",
    affinity: "$HOST",
    vifs: [{ network: "$NETWORK" }],
    vdis: [{ name_label: "d", size: 1 }],
  };
  const needed = lacking(
    { objectId: "$POOL", action: "create:vm", resource: "pool" },
    { objectId: "$TEMPLATE", action: "instantiate", resource: "vm-template" },
    { action: "create", resource: "vdi" },
    { action: "create", resource: "vif" },
    { objectId: "$HOST", action: "allow-vm", resource: "host" },
  );
  const CREATE = "POST /pools/$POOL/actions/create_vm?sync=true";
  answers(
    [
      ["GET /vms", 200, []],
      ["GET /pools", 200, []],
      ["GET /servers", 200, []],
      ["GET /vms/$VM", 403, ofVm("read")],
      [`GET /vms/${NOWHERE}`, 404, noSuch("VM", NOWHERE)],
      ["POST /vms/$VM/actions/start", 403, ofVm("start")],
      [CREATE, 403, needed, { body: creation }],
      [CREATE, 403, needed, { body: { ...creation, nope: 1 } }],
      // What is named must be there, before rights are asked.
      [CREATE, 404, failed("no such object x", { id: "x" }), { body: { template: "x" } }],
      [CREATE, 404, noSuch("host", NOWHERE), { body: { ...creation, affinity: NOWHERE } }],
      ["POST /vms/$VM/actions/start", 404, noSuch("host", NOWHERE), { body: { hostId: NOWHERE } }],
      [
        "POST /vms/$VM/actions/start",
        403,
        lacking(
          { objectId: "$VM", action: "start", resource: "vm" },
          { objectId: "$HOST", action: "allow-vm", resource: "host" },
        ),
        { body: { hostId: "$HOST" } },
      ],
      [
        "POST /vdis",
        403,
        lacking(
          { objectId: "$SR", action: "import:vdi", resource: "sr" },
          { action: "create", resource: "vdi" },
        ),
        { body: { srId: "$SR", virtual_size: 1, name_label: "d" } },
      ],
      ["POST /vdis", 404, noSuch("SR", NOWHERE), { body: { srId: NOWHERE, virtual_size: 1 } }],
    ],
    { as: noRights },
  );
});
