import { expect, test } from "bun:test";
import {
  type Introduced,
  toIntroduction,
  toInvitation,
} from "../../../lib/cli/demo/introduction.ts";

const SHOWN: Introduced = {
  kubernetes: "http://127.0.0.1:1",
  hasOutOfService: false,
  hasServices: false,
  cloud: {
    title: "CloudStack",
    url: "http://127.0.0.1:2/client/api",
    summary: "one VM",
    clients: {
      env: { CLOUDSTACK_SECRET: "s3cret" },
      settings: { provider: "external-cloudstack", text: "secret-key = s3cret" },
      commands: ["kubectl describe node worker"],
    },
  },
  files: { kubeconfig: "/d/kubeconfig", env: "/d/env", cloudConfig: "/d/cloud-config" },
  debugAddress: { kind: "tcp", host: "127.0.0.1", port: 3 },
};
const CHECK =
  "  landfall check --cloud-provider=external-cloudstack --cloud-config=/d/cloud-config";

test("toIntroduction() says what runs, and how to watch it", () => {
  const lines = toIntroduction(SHOWN).split("\n");
  expect(lines).toContain(
    "A simulated CloudStack listens at http://127.0.0.1:2/client/api: one VM",
  );
  expect(lines).toContain("  . /d/env");
  expect(lines).toContain(CHECK);
  expect(lines).toContain("  in a browser: http://127.0.0.1:3/debug/");
  expect(lines.join()).not.toContain("s3cret");
});

test("toInvitation() lists the commands of the cloud, too", () => {
  const lines = toInvitation(SHOWN).split("\n");
  expect(lines).toContain(CHECK);
  expect(lines).toContain("  landfall nodes");
  expect(lines).toContain("  kubectl describe node worker");
  expect(lines.join()).not.toContain("s3cret");
});
