import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
  startXenOrchestraSimulator,
  type Collection,
  type World,
  type XenOrchestraSimulator,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { CAPTURE_NAMES, readCaptureText } from "../../support/cloud/captures.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const CAPTURE = v.object({
  request: v.object({
    method: v.string(),
    path: v.string(),
    headers: v.record(v.string(), v.union([v.string(), v.number()])),
    body: v.optional(v.unknown()),
  }),
  response: v.object({
    status: v.number(),
    headers: v.record(v.string(), v.string()),
    body: v.optional(v.unknown()),
    text: v.optional(v.string()),
  }),
});
// Keeps the order of the keys, which an object schema does not: the ETag depends on it.
const RECORDS = v.array(
  v.custom<XoRecord>((value) => typeof value === "object" && value !== null && "id" in value),
);

type Capture = v.InferOutput<typeof CAPTURE>;

function readCapture(name: string): Capture {
  return v.parse(CAPTURE, JSON.parse(readCaptureText(name)));
}

function readRecords(collection: Collection): XoRecord[] {
  const { body } = readCapture(`${collection}-all-fields`).response;
  return v
    .parse(RECORDS, body)
    .map(({ href: _href, ...record }): XoRecord => ({ ...record, id: record.id }));
}

function readWorld(): World {
  return {
    pools: readRecords("pools"),
    hosts: readRecords("hosts"),
    vms: readRecords("vms"),
    networks: readRecords("networks"),
    vifs: readRecords("vifs"),
    servers: readRecords("servers"),
    "vm-controllers": readRecords("vm-controllers"),
  };
}

const PARIS = "536ef866-bc2b-4a02-a05c-9d87caf8b89f";
const OWNER = { id: "8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96", username: "", password: "" };

/** Times, tokens and the words of an engine's own errors differ; their shape must not. */
const SHAPE_ONLY = new Set([
  "ping",
  "filter-badre",
  "pooldown-servers",
  ...CAPTURE_NAMES.filter((name) => name.startsWith("token-") && !name.startsWith("token-too-")),
]);
/** One captured list is older than the objects of the others. */
const BODY_DIFFERS = new Set(["head-vms"]);
/** Headers that clients act on. */
const HEADERS = ["content-type", "www-authenticate", "location", "allow"];

describe("the simulated Xen Orchestra answers as the captured one:", () => {
  let simulator: XenOrchestraSimulator;
  let clock: ManualClock;

  beforeAll(async () => {
    clock = new ManualClock();
    simulator = await startXenOrchestraSimulator({ clock, world: readWorld() });
    simulator.auth.mint(OWNER, { client: { id: "ccm-test" } });
    simulator.auth.addToken("expired", OWNER, 1);
  });
  afterAll(() => simulator.stop());

  async function replay({ request }: Capture, token = simulator.token): Promise<Response> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (name === "content-length") continue;
      const masked = String(value).replace(/=(<token>|[\w-]{43}$)/, `=${token}`);
      headers.set(name, masked.replace("<token>", Buffer.from("nobody").toString("base64")));
    }
    return await fetch(simulator.url + request.path, {
      method: request.method,
      headers,
      redirect: "manual",
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  }

  async function prepare(name: string): Promise<() => void> {
    // Each capture begins with no failed sign-in behind it.
    await clock.advance(2_000);
    if (name.startsWith("pooldown-")) {
      simulator.state.dropPool(PARIS);
      return () => simulator.state.restorePool(PARIS);
    }
    if (name.startsWith("nonadmin-")) return simulator.faults.set({ kind: "nonAdmin" });
    if (name === "auth-basic-bad-again" || name === "auth-basic-good-after-bad") {
      await replay(readCapture("auth-basic-bad"));
    }
    return () => {};
  }

  test.each(CAPTURE_NAMES)("%s", async (name) => {
    const capture = readCapture(name);
    const undo = await prepare(name);
    const response = await replay(capture, name === "expired-token" ? "expired" : undefined);
    const text = await response.text();
    undo();
    expect(response.status).toBe(capture.response.status);
    for (const header of HEADERS) {
      const wanted = capture.response.headers[header] ?? null;
      expect(response.headers.get(header)).toBe(wanted);
    }
    const { body } = capture.response;
    if (BODY_DIFFERS.has(name)) return;
    if (body === undefined) {
      expect(text).toBe(capture.response.text ?? "");
      return;
    }
    const actual: unknown = JSON.parse(text);
    if (SHAPE_ONLY.has(name)) {
      expect(toShape(actual)).toEqual(toShape(body));
      return;
    }
    expect(actual).toEqual(body);
    expect(response.headers.get("etag")).toBe(capture.response.headers["etag"] ?? null);
  });
});

/** Types in place of values; a key that is there only after a token was used is left out. */
function toShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toShape);
  if (typeof value !== "object" || value === null) return typeof value;
  const entries = Object.entries(value).filter(([key]) => key !== "last_uses");
  // Why a connection failed is told in the words of the system it runs on.
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, key === "error" ? typeof inner : toShape(inner)]),
  );
}
