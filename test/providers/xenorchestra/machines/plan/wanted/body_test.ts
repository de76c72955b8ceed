import { expect, test } from "bun:test";
import { toCreateBody } from "../../../../../../lib/providers/xenorchestra/machines/plan/wanted/body.ts";
import { toWanted } from "../../../../../../lib/providers/xenorchestra/machines/plan/wanted/resolve.ts";
import {
  formatDiskMark,
  formatMark,
  toSpecHash,
} from "../../../../../../lib/providers/xenorchestra/machines/words.ts";
import { GIB, HOST, NAME, toSpec, toTemplate, toView } from "../../scene.ts";

const SECRET = "p4ssw0rd";

test("toCreateBody() names every device and storage, and starts nothing", () => {
  const spec = toSpec({ seed: { label: "cidata", files: { "user-data": SECRET } } });
  const vifs = {
    "template-1": [0, 1].map((one) => ({ device: String(one), mac: "x", networkId: "net-1" })),
  };
  const body = toCreateBody(spec, toTemplate({ uuid: "uuid-1" }), toWanted(toView({ vifs }), spec));
  expect(body).toEqual({
    template: "uuid-1",
    name_label: NAME,
    name_description: formatMark(spec, { hostId: HOST, hash: toSpecHash(spec) }, false),
    cpus: 2,
    memory: 4 * GIB,
    affinity: HOST,
    boot: false,
    clone: true,
    vifs: [
      { device: "0", network: "net-1", mac: "02:00:00:00:00:01" },
      { device: "1", destroy: true },
    ],
    vdis: [
      {
        userdevice: "0",
        name_label: `${NAME}.root`,
        name_description: formatDiskMark(spec, "root"),
        size: 20 * GIB,
        sr: "sr-1",
      },
      {
        name_label: `${NAME}.data`,
        name_description: formatDiskMark(spec, "data"),
        size: 5 * GIB,
        sr: "sr-1",
      },
    ],
  });
  expect(JSON.stringify(body)).not.toContain(SECRET);
});

test("toCreateBody() asks for a start from the network, and for an MTU", () => {
  const spec = toSpec({
    boot: "network",
    interfaces: [{ name: "oam", network: "oam", mac: "02:00:00:00:00:01", mtu: 9000 }],
  });
  expect(toCreateBody(spec, toTemplate(), toWanted(toView(), spec))).toMatchObject({
    install: { method: "network", repository: "" },
    vifs: [{ mtu: 9000 }],
  });
});
