import { expect, test } from "bun:test";
import { readProtobuf } from "../../../../lib/simulator/kubernetes/requests/protobuf.ts";

/** `kubectl create service loadbalancer hello --tcp=80:8080 --tcp=443:https` of kubectl 1.33. */
const SERVICE =
  "azhzAAoNCgJ2MRIHU2VydmljZRKWAQojCgVoZWxsbxIAGgAiACoAMgA4AEIAWgwKA2FwcBIFaGVsbG8SawobCgc4MC04MDgwEgNU" +
  "Q1AYUCIHCAAQkD8aACgACiIKCTQ0My1odHRwcxIDVENQGLsDIgsIARAAGgVodHRwcygAEgwKA2FwcBIFaGVsbG8aACIMTG9hZEJh" +
  "bGFuY2VyOgBCAFIAWgBgAGgAGgIKABoAIgA=";
/** `kubectl create namespace web` */
const NAMESPACE = "azhzAAoPCgJ2MRIJTmFtZXNwYWNlEhsKEwoDd2ViEgAaACIAKgAyADgAQgASABoCCgAaACIA";
/** `kubectl create configmap a --from-literal=a=b` */
const CONFIG_MAP = "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhsKEQoBYRIAGgAiACoAMgA4AEIAEgYKAWESAWIaACIA";

function read(base64: string): unknown {
  return readProtobuf(Buffer.from(base64, "base64"));
}

/** An object with one field in `spec` of a Service. */
function withSpec(...field: readonly number[]): Uint8Array {
  const types = [0x0a, 0x0d, 0x0a, 2, ...Buffer.from("v1"), 0x12, 7, ...Buffer.from("Service")];
  const spec = [0x12, field.length, ...field];
  return new Uint8Array([...Buffer.from("k8s\0"), ...types, 0x12, spec.length, ...spec]);
}

test("readProtobuf() reads a Service and a Namespace as kubectl sends them, without their empty fields", () => {
  expect(read(SERVICE)).toEqual({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hello", labels: { app: "hello" } },
    spec: {
      type: "LoadBalancer",
      selector: { app: "hello" },
      ports: [
        { name: "80-8080", protocol: "TCP", port: 80, targetPort: 8080 },
        { name: "443-https", protocol: "TCP", port: 443, targetPort: "https" },
      ],
    },
  });
  expect(read(NAMESPACE)).toEqual({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "web" },
  });
});

test("readProtobuf() reads lists, and several entries of a map", () => {
  const entry = (key: string): number[] => [
    0x12,
    6,
    0x0a,
    1,
    ...Buffer.from(key),
    0x12,
    1,
    ...Buffer.from("x"),
  ];
  expect(
    readProtobuf(withSpec(...entry("a"), ...entry("b"), 0x4a, 1, 0x31, 0x4a, 1, 0x32)),
  ).toEqual({
    apiVersion: "v1",
    kind: "Service",
    spec: { selector: { a: "x", b: "x" }, loadBalancerSourceRanges: ["1", "2"] },
  });
});

test.each<[string, Uint8Array, number, string]>([
  ["another kind", Buffer.from(CONFIG_MAP, "base64"), 415, "ConfigMap"],
  ["bytes that are something else", Buffer.from("{}"), 400, "expected prefix"],
  ["no bytes", new Uint8Array(), 400, "expected prefix"],
  ["a message that is cut off", Buffer.from(SERVICE, "base64").subarray(0, 60), 400, "damaged"],
  ["a number without an end", withSpec(0x60, 0xff, 0xff), 400, "damaged"],
  ["a number where a text must be", withSpec(0x18, 1), 400, "damaged"],
  ["a field that it does not know", withSpec(0x72, 2, 0x0a, 0), 400, "field 14"],
])("readProtobuf() refuses %s", (_what, bytes, code, message) => {
  const refusal = { code, message: expect.stringContaining(message) };
  expect(() => readProtobuf(bytes)).toThrow(expect.objectContaining(refusal));
});
