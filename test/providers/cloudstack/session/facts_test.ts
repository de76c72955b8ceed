/**
 * The project and the version, each asked for once.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import { Facts, parseVersion } from "../../../../lib/providers/cloudstack/session/facts.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";
import { FakeCloudStack, reply, toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const rig = useCloudStack();

function open(more: object = {}): Facts {
  const { url, apiKey, secretKey } = rig.simulator;
  const settings = toSettings(url, { apiKey, secretKey, ...more });
  const session = new CloudStackSession(settings, { ...toDeps(), clock: rig.clock });
  return new Facts(session, settings);
}

function toId(number: number): string {
  return `aaaaaaaa-1111-4111-8111-${String(number).padStart(12, "0")}`;
}

function findProjectName(): string {
  const project = rig.simulator.state.projects.get(rig.story.projectId);
  if (project === undefined) throw new Error("the world has no project");
  return project.name;
}

describe("parseVersion()", () => {
  test.each([
    ["4.22.0.0", { major: 4, minor: 22, patch: 0 }],
    ["4.17.1.0-SNAPSHOT", { major: 4, minor: 17, patch: 1 }],
    ["4.18", { major: 4, minor: 18, patch: 0 }],
    ["", undefined],
    ["main", undefined],
    ["4", undefined],
  ])("reads %j", (text, version) => expect(parseVersion(text)).toEqual(version));
});

describe("readProjectId()", () => {
  test("asks for nothing without a project, or with a UUID", async () => {
    expect(await open().readProjectId(signal)).toBeUndefined();
    const id = "AAAAAAAA-1111-4111-8111-AAAAAAAAAAAA";
    expect(await open({ projectId: id }).readProjectId(signal)).toBe(id.toLowerCase());
    expect(rig.simulator.requests.entries).toHaveLength(0);
  });

  test("finds a project by its name in any case, and asks once", async () => {
    const facts = open({ projectId: findProjectName().toUpperCase() });
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
    expect(rig.simulator.requests.count("listProjects")).toBe(1);
  });

  test("says what to do when there is none, and asks again", async () => {
    const facts = open({ projectId: "nowhere" });
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(facts.readProjectId(signal)).rejects.toThrow(
        'no project with the name "nowhere"; check project-id',
      );
    }
    expect(rig.simulator.requests.count("listProjects")).toBe(2);
  });

  test("does not take a part of a name for the name, nor one of several", async () => {
    const fake = new FakeCloudStack();
    // Without a name, a project cannot be read.
    const find = async (...names: (string | undefined)[]): Promise<string | undefined> => {
      const project = names.map((name, at) => ({ id: toId(at), name: name ?? 7 }));
      fake.answer = ({ command }) => reply(command, { count: names.length, project });
      const settings = toSettings(fake.url, { projectId: "kube" });
      const session = new CloudStackSession(settings, toDeps());
      return await new Facts(session, settings).readProjectId(signal);
    };
    await expect(find("kube-2")).rejects.toThrow("no project");
    await expect(find("kube", "kube-2", undefined)).rejects.toThrow("not whole");
    await expect(find("kube", "Kube")).rejects.toThrow("2 projects");
    expect(await find("kube-2", "KUBE")).toBe(toId(1));
    await fake.stop();
  });

  test("takes no project from a list that is not whole: another one may have the name", async () => {
    const facts = open({ projectId: findProjectName() });
    const end = rig.simulator.faults.set({ kind: "json", body: shortList() });
    await expect(facts.readProjectId(signal)).rejects.toThrow("not whole");
    end();
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
  });
});

/** One project of two. */
function shortList(): object {
  const project = [{ id: rig.story.projectId, name: findProjectName() }];
  return { listprojectsresponse: { count: 2, project } };
}

describe("inProject()", () => {
  test("finds a project again that was deleted and created again under its name", async () => {
    const facts = open({ projectId: findProjectName() });
    const ask = (id: string | undefined): Promise<string | undefined> => Promise.resolve(id);
    expect(await facts.inProject(ask, signal)).toBe(rig.story.projectId);
    const gone = (id = ""): Promise<never> => Promise.reject(toUnknownProject(id));
    await expect(facts.inProject(gone, signal)).rejects.toThrow("431");
    await facts.inProject(ask, signal);
    expect(rig.simulator.requests.count("listProjects")).toBe(2);
  });

  test("keeps the project after any other failure", async () => {
    const facts = open({ projectId: findProjectName() });
    const other = (): Promise<never> => Promise.reject(toUnknownProject(toId(9)));
    await expect(facts.inProject(other, signal)).rejects.toThrow("431");
    await facts.readProjectId(signal);
    expect(rig.simulator.requests.count("listProjects")).toBe(1);
  });
});

function toUnknownProject(id: string): ApiError {
  const text = `Invalid parameter projectid value=${id} due to incorrect long value format, or entity does not exist`;
  return new ApiError({ code: 431, text }, { command: "listVirtualMachines", secrets: [] });
}

describe("readVersion()", () => {
  test("believes the settings, and asks for nothing", async () => {
    const facts = open({ version: "4.19.1.0" });
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 19, patch: 1 });
    expect(rig.simulator.requests.entries).toHaveLength(0);
  });

  test("asks the server once, when it is needed", async () => {
    const facts = open();
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 22, patch: 0 });
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 22, patch: 0 });
    expect(rig.simulator.requests.count("listCapabilities")).toBe(1);
  });

  test("a version that cannot be read is none", async () => {
    rig.simulator.settings.version = "main";
    expect(await open().readVersion(signal)).toBeUndefined();
  });
});
