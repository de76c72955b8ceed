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

/** Credentials and rights have their cases in `test/judges/xen_orchestra_answers_test.ts`. */
const names = CAPTURE_NAMES.filter((name) => !/^(auth|expired|nonadmin|token)-/.test(name));
/** Times and the words of an engine's own errors differ; their shape must not. */
const SHAPE_ONLY = new Set(["ping", "filter-badre", "pooldown-servers"]);
/** One captured list is older than the objects of the others. */
const BODY_DIFFERS = new Set(["head-vms"]);
/** Headers that clients act on. */
const HEADERS = ["content-type", "www-authenticate", "location", "allow"];

describe("the simulated Xen Orchestra answers as the captured one:", () => {
  let simulator: XenOrchestraSimulator;

  beforeAll(async () => {
    const clock = new ManualClock();
    simulator = await startXenOrchestraSimulator({ clock, world: readWorld() });
  });
  afterAll(() => simulator.stop());

  async function replay({ request }: Capture): Promise<Response> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (name === "content-length") continue;
      headers.set(name, String(value).replace("=<token>", `=${simulator.token}`));
    }
    return await fetch(simulator.url + request.path, {
      method: request.method,
      headers,
      redirect: "manual",
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  }

  test.each(names)("%s", async (name) => {
    const capture = readCapture(name);
    const isLost = name.startsWith("pooldown-");
    if (isLost) simulator.state.dropPool(PARIS);
    const response = await replay(capture);
    const text = await response.text();
    if (isLost) simulator.state.restorePool(PARIS);
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

/** Types in place of values. */
function toShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toShape);
  if (typeof value !== "object" || value === null) return typeof value;
  // Why a connection failed is told in the words of the system it runs on.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "error" ? typeof inner : toShape(inner),
    ]),
  );
}
