import { expect, test } from "bun:test";
import { toSignature } from "../../../../lib/simulator/cloudstack/access/signature.ts";

const NAME = "node 1*~(x)!'/:@+ü";
const LIST = {
  command: "listVirtualMachines",
  name: NAME,
  response: "json",
  signatureversion: "3",
};

// The first is in CloudStack's documentation; the others were made with Java's URLEncoder and checked with Python.
test.each<[string, string, Record<string, string>, string]>([
  [
    "the documentation's example",
    "VDaACYb0LV9eNjTetIOElcVQkvJck_J_QljX_FcHRj87ZKiy0z0ty0ZsYBkoXkY9b7eq1EhwJaw7FF3akA3KBQ",
    {
      apikey:
        "plgWJfZK4gyS3mOMTVmjUVg-X-jlWlnfaUJ9GAbBbf9EdM-kAYMmAiLqzzq1ElZLYq_u38zCm0bewzGUdP66mg",
      command: "listUsers",
      response: "json",
    },
    "TTpdDq/7j/J58XCRHomKoQXEQds=",
  ],
  [
    "a name with characters that must be escaped",
    "SECRET",
    { apiKey: "KEY", expires: "2030-01-02T03:04:05Z", ...LIST },
    "2yn86L7HDUYHQOx/E2c2yejbiWY=",
  ],
  [
    "lists with commas",
    "SECRET",
    {
      algorithm: "roundrobin",
      apiKey: "KEY",
      cidrlist: "10.0.0.0/8,192.168.1.0/24",
      command: "createLoadBalancerRule",
      expires: "2030-01-02T03:04:05Z",
      name: "a0123-tcp-80",
      networkid: "66666666-7777-8888-9999-000000000000",
      openfirewall: "false",
      privateport: "30080",
      protocol: "tcp",
      publicipid: "11111111-2222-3333-4444-555555555555",
      publicport: "80",
      response: "json",
      signatureversion: "3",
    },
    "Pds0HHyawUo4vFRYunVt01F072U=",
  ],
  [
    "names with brackets",
    "SECRET",
    {
      apikey: "KEY",
      expires: "2030-01-02T03:04:05+0000",
      "tags[0].key": "k",
      "tags[0].value": "V",
      ...LIST,
    },
    "HLccrjuHRdds3Y6pC0xaCpILPKI=",
  ],
])("toSignature() of %s", (_name, secret, parameters, signature) => {
  const raw = new Map(Object.entries(parameters));
  expect(toSignature(secret, raw)).toBe(signature);
  raw.set("signature", "anything");
  expect(toSignature(secret, raw)).toBe(signature);
});
