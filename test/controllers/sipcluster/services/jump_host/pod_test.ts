import { describe, expect, test } from "bun:test";
import { PATHS } from "../../../../../lib/controllers/sipcluster/services/jump_host/content.ts";
import { toDeploymentSpec } from "../../../../../lib/controllers/sipcluster/services/jump_host/jump_hosts.ts";

const SPEC = toDeploymentSpec({
  entry: { image: "i", nodePort: 0, nodeInterfaceId: "oam", nodeSSHPrivateKeys: "keys" },
  image: "i",
  names: { name: "a", account: "landfall-a", hostKeys: "a-host-keys", requests: "a-requests" },
  labels: { app: "a" },
  hosts: [],
  configHash: "1234",
  tolerations: [{ key: "edge", operator: "Exists" }],
});
const POD = SPEC.template.spec;
const [CONTAINER] = POD?.containers ?? [];

describe("toDeploymentSpec()", () => {
  test("keeps one replica, and starts the next before the old one ends", () => {
    expect(SPEC).toMatchObject({
      replicas: 1,
      selector: { matchLabels: { app: "a" } },
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { metadata: { labels: { app: "a" } } },
    });
  });

  test("lets sessions end before a Pod ends", () => {
    const command = ["/bin/sh", "/opt/sip/bin/drain"];
    expect(CONTAINER?.lifecycle?.preStop?.exec).toEqual({ command });
    expect(POD?.terminationGracePeriodSeconds).toBe(300);
  });

  test("tolerates what the operator says, and leaves a lost Node soon", () => {
    const keys = POD?.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds]);
    expect(keys).toEqual([
      ["edge", undefined],
      ["node.kubernetes.io/not-ready", 30],
      ["node.kubernetes.io/unreachable", 30],
    ]);
  });

  test("mounts only volumes that it has, and all of them", () => {
    const mounted = new Set(CONTAINER?.volumeMounts?.map(({ name }) => name));
    expect([...mounted].toSorted()).toEqual(POD?.volumes?.map(({ name }) => name).toSorted() ?? []);
    const writable = CONTAINER?.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
    expect(writable?.map(({ mountPath }) => mountPath)).toEqual([PATHS.home, "/tmp"]);
  });

  test("keeps the container from using a proxy", () => {
    expect(CONTAINER?.command).toEqual(["/bin/sh", "/opt/sip/bin/start"]);
    expect(CONTAINER?.env).toEqual([
      { name: "NO_PROXY", value: "*" },
      { name: "no_proxy", value: "*" },
    ]);
  });
});
