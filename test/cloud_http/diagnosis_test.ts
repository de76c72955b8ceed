/**
 * What is said of each way to miss a server, on real sockets.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createServer, type Server as TcpServer, type Socket } from "node:net";
import { CloudError } from "../../lib/cloud/errors.ts";
import {
  diagnoseConnection,
  diagnoseSilence,
  diagnoseTlsPort,
} from "../../lib/cloud_http/diagnosis.ts";
import { normalise } from "../../lib/cloud_http/client.ts";
import { ConnectionProblem } from "../../lib/core/http/connection.ts";
import { readTls } from "../support/net/tls_fixtures.ts";
import { FakeServer, NAMES } from "./fake_server.ts";

const { signal } = new AbortController();
const FINGERPRINT = normalise(new X509Certificate(readTls("server.crt")).fingerprint256);

let server: FakeServer;
let silent: TcpServer;
let silentUrl: string;
const sockets = new Set<Socket>();
beforeAll(async () => {
  server = new FakeServer({ cert: readTls("server.crt"), key: readTls("server.key") });
  silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  silentUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : undefined}`;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await server.stop();
});

/** An error of a request whose connection failed with this code. */
function toError(code?: string): CloudError {
  const options = code === undefined ? {} : { cause: new ConnectionProblem(code, "words") };
  return new CloudError("unreachable", "Cannot reach", options);
}

describe("diagnoseConnection()", () => {
  test.each([
    ["ENOTFOUND", "dns", "check api-url; in a Pod"],
    ["ECONNREFUSED", "refused", "host and port in api-url, and check that example-server runs"],
    ["EHOSTUNREACH", "noRoute", "check host in api-url"],
    [
      "ECONNRESET",
      "closed",
      "protocol in api-url, http or https, and read the log of example-server",
    ],
    ["ERR_PROXY_TUNNEL", "proxy", "check HTTP_PROXY"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tlsName", "use a name of the certificate in api-url"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tlsAuthority", "if it is self-signed, compare"],
    ["CERT_HAS_EXPIRED", "tlsExpired", "new certificate of its authority into ca-file"],
    ["CERT_NOT_YET_VALID", "tlsNotYetValid", "check this machine's clock"],
    [
      "CERT_REVOKED",
      "tls",
      "set ca-file, or compare the SHA-256 with that of the server's own certificate, then set pin to it",
    ],
  ])("names %s as %s, with advice", async (code, wanted, advice) => {
    const asked = { server: { url: server.url }, names: NAMES, signal };
    const found = await diagnoseConnection(toError(code), asked);
    expect(found).toMatchObject({ level: "failure", code: wanted });
    expect(found?.advice).toContain(advice);
    const shown = wanted.startsWith("tls") ? "certificate of 127.0.0.1" : "reach Example Cloud at";
    expect(found?.message).toContain(shown);
  });

  test("says that a certificate has no host name in it, and advises to pin it", async () => {
    const nameless = new FakeServer({ cert: readTls("client.crt"), key: readTls("client.key") });
    try {
      const asked = { server: { url: nameless.url }, names: NAMES, signal };
      const found = await diagnoseConnection(toError("ERR_TLS_CERT_ALTNAME_INVALID"), asked);
      expect(found?.message).toEndWith("it has no host name in it");
      expect(found?.advice).toStartWith(
        "compare the SHA-256 with that of the server's own certificate, then set pin to it",
      );
    } finally {
      await nameless.stop();
    }
  });

  test("looks whether another certificate than the pinned one is to blame", async () => {
    const toAsked = (certificateFingerprint: string) => ({
      server: { url: server.url, certificateFingerprint },
      names: NAMES,
      signal,
    });
    for (const error of [toError(), toError("ECONNRESET"), toError("CERT_REVOKED")]) {
      const found = await diagnoseConnection(error, toAsked("ab".repeat(32)));
      expect(found).toMatchObject({ code: "tlsFingerprint" });
      expect(found?.message).toContain("is not the one in pin: its SHA-256 is");
    }
    expect(await diagnoseConnection(toError(), toAsked(FINGERPRINT))).toBeUndefined();
  });

  test("says nothing about an error without a connection", async () => {
    const asked = { server: { url: "http://127.0.0.1:1" }, names: NAMES, signal };
    expect(await diagnoseConnection(new CloudError("protocol", "no JSON"), asked)).toBeUndefined();
  });
});

describe("diagnoseSilence()", () => {
  test("tells a server that says nothing from one that takes no connection", async () => {
    const open = await diagnoseSilence({ server: { url: silentUrl }, names: NAMES, signal });
    expect(open).toMatchObject({ code: "noAnswer" });
    expect(open.message).toStartWith("Example Cloud at 127.0.0.1:");
    expect(open.advice).toContain("example-server may be starting");
    const nobody = { server: { url: "http://127.0.0.1:1" }, names: NAMES, signal };
    expect(await diagnoseSilence(nobody)).toMatchObject({ code: "timeout" });
  });
});

describe("diagnoseTlsPort()", () => {
  const look = (url: string) => diagnoseTlsPort({ server: { url }, names: NAMES, signal });

  test("finds that http was used for a port with TLS, also after a closed connection", async () => {
    const url = `${server.url.replace("https:", "http:")}/api`;
    const wanted = { code: "tlsPort", advice: "use https:// in api-url, or use the port for http" };
    expect(await look(url)).toMatchObject(wanted);
    const asked = { server: { url }, names: NAMES, signal };
    expect(await diagnoseConnection(toError("ECONNRESET"), asked)).toMatchObject(wanted);
  });

  test("finds nothing for https, and for a port without TLS", async () => {
    expect(await look(server.url)).toBeUndefined();
    expect(await look("http://127.0.0.1:1")).toBeUndefined();
  });
});
