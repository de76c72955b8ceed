import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { readCaptureText, WRITE_CAPTURE_NAMES } from "../../../support/cloud/captures.ts";
import { createCapturedWorld, PARIS, VM } from "./captured_world.ts";
import { Rig } from "./rig.ts";

const REST = v.object({
  request: v.object({ method: v.string(), path: v.string(), body: v.optional(v.unknown()) }),
  response: v.object({
    status: v.number(),
    location: v.optional(v.string()),
    contentType: v.optional(v.string()),
    body: v.unknown(),
  }),
});
type Capture = v.InferOutput<typeof REST>;

const ADMIN = "admin@admin.net";
const PATH = `/rest/v0/pools/${PARIS}/actions/create_vm`;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TASK = /\b0[0-9a-z]{8}-[0-9a-z]{9,13}\b/g;

function readRest(name: string): Capture {
  return v.parse(REST, JSON.parse(readCaptureText(name)));
}

/** What was not known before is compared by its form: IDs, references, times, and what a call was made with. */
function toForm(value: unknown, known: ReadonlySet<string>): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (["start", "end", "updatedAt", "duration"].includes(key)) return "<number>";
    if (key === "stack") return undefined;
    if (key === "params" && String(inner).startsWith("* session id *")) return "<call>";
    return inner;
  });
  const form = (text ?? "null")
    .replaceAll(UUID, (id) => (known.has(id) ? id : "<uuid>"))
    .replaceAll(TASK, "<task>");
  return JSON.parse(form);
}

describe("the simulated Xen Orchestra writes as the captured one:", () => {
  let rig: Rig;
  let known: ReadonlySet<string>;
  beforeEach(() => {
    const world = createCapturedWorld();
    rig = new Rig({ world });
    const records = Object.values(world).flat();
    // The machine was made by one of the captured requests.
    known = new Set(records.map(({ id }) => id).filter((id) => id !== VM));
  });
  afterEach(() => rig.stop());

  const fail = (method: string, code: string, params: string[] = []) =>
    rig.cloud.hypervisor.faults.set({ kind: "fail", code, params }, { method });
  const block = (operation: string, reason: string) => () =>
    rig.cloud.state.setVm(VM, { blockedOperations: { [operation]: reason } });

  /** Starts what a captured task was started for. @returns its ID */
  const startTask = async (name: string): Promise<string> => {
    const { properties } = v.parse(
      v.object({ properties: v.object({ args: v.unknown() }) }),
      toTask(name),
    );
    const args = structuredClone(properties.args);
    // The device was filled in by the action.
    for (const vif of Object(args).vifs ?? []) if (vif.device === "1") delete vif.device;
    const reply = await rig.post(PATH.replace("/rest/v0", ""), args);
    return String(Object(await reply.json()).taskId);
  };
  const toTask = (name: string): unknown => [readRest(name).response.body].flat()[0];

  /** What was so before a request, and where it goes if its path names something that was made. */
  const prepare: Readonly<Record<string, () => unknown>> = {
    "clean_reboot-notools": () => {
      rig.cloud.state.toolless.add(VM);
      rig.cloud.state.setPower(VM, "Running");
    },
    "create-boot-fails": () =>
      fail("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["4294967296", "1000"]),
    "create-cloudinit-import-fails": () => fail("VDI.import", "VDI_IO_ERROR"),
    "create-pool-disconnected": () => rig.cloud.state.dropPool(PARIS),
    "nonadmin-create-403": () => rig.cloud.auth.setPrivileges(ADMIN, []),
    "start-blocked": block("start", "no"),
    "start-host-disabled": () => {
      const host = rig.record("hosts", "402dab7c-9729-4de8-aab2-0ed98ff8bdff");
      host["enabled"] = false;
    },
    "start-running": () => rig.cloud.state.setPower(VM, "Running"),
    "task-create-failed": async () => {
      fail("VDI.create", "SR_BACKEND_FAILURE_44", ["", "There is insufficient space", ""]);
      const id = await startTask("task-create-failed");
      await rig.clock.advance(0);
      return `/rest/v0/tasks/${id}`;
    },
    "task-create-interrupted": async () => {
      rig.cloud.hypervisor.operationMs = 600;
      const id = await startTask("task-create-interrupted");
      rig.cloud.kill();
      rig.cloud.start();
      return `/rest/v0/tasks/${id}`;
    },
    "task-create-pending": async () => {
      rig.cloud.hypervisor.operationMs = 600;
      return `/rest/v0/tasks/${await startTask("task-create-pending")}`;
    },
    "task-create-wait": async () => {
      const id = await startTask("task-create-wait");
      await rig.clock.advance(0);
      return `/rest/v0/tasks/${id}?wait=true`;
    },
    "tasks-by-args-name": async () => {
      await startTask("tasks-by-args-name");
      await rig.clock.advance(100);
    },
    "vm-delete-blocked": block("destroy", "managed by vino"),
  };

  const names = WRITE_CAPTURE_NAMES.filter((name) => !/^(rpc|sse)-/.test(name));
  test.each(names)("%s", async (name) => {
    const { request, response: wanted } = readRest(name);
    const prepared = await prepare[name]?.();
    const path = typeof prepared === "string" ? prepared : request.path;
    const { body } = request;
    const content = String(body).startsWith("<") ? new Uint8Array(1024 ** 2) : body;
    const reply = await rig.ask(request.method, path.replace("/rest/v0", ""), content);
    const text = await reply.text();
    const actual = {
      status: reply.status,
      location: reply.headers.get("location") ?? undefined,
      body: text === "" ? "" : JSON.parse(text),
    };
    const { contentType, ...rest } = wanted;
    expect(toForm(actual, known)).toEqual(toForm(rest, known));
    if (contentType !== undefined) expect(reply.headers.get("content-type")).toBe(contentType);
  });

  test("sse-create", async () => {
    rig.cloud.hypervisor.operationMs = 600;
    const stream = await rig.get("/events");
    const texts: string[] = [];
    const read = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of stream.body ?? []) texts.push(decoder.decode(chunk));
    })();
    await rig.clock.advance(0);
    const [, id = ""] = /"id":"([^"]+)"/.exec(texts.join("")) ?? [];
    const fields = ["id", "name_label", "status", "properties", "result"];
    for (const collection of ["task", "VM-template", "VM"]) {
      const path = `/events/${id}/subscriptions`;
      const wanted = collection === "task" ? fields : fields.slice(0, 2);
      expect((await rig.post(path, { collection, fields: wanted })).status).toBe(201);
    }
    const captured = readCaptureText("sse-create");
    const [, args = "{}"] = /"args":(\{[^}]+\})/.exec(captured) ?? [];
    await rig.post(PATH.replace("/rest/v0", ""), JSON.parse(args));
    await rig.clock.advance(10_000);
    const events = (text: string): unknown[] =>
      [...text.matchAll(/event: (\w+)\ndata: (.*)/g)]
        .filter(([, event]) => event !== "init")
        .map(([, event, data = ""]) => toForm({ event, data: JSON.parse(data) }, known));
    expect(events(texts.join(""))).toEqual(events(captured));
    rig.cloud.events.end();
    await read;
  });
});
