/**
 * Requests to an HTTPS port, one or many, by whoever does not check its certificate.
 * @module
 */
import { X509Certificate } from "node:crypto";
import { Agent, request } from "node:https";
import { connect } from "node:tls";

/** What was answered. */
interface HttpsAnswer {
  readonly status: number;
  readonly text: string;
}

/** Asks on a connection of its own, unless an agent keeps them. Certificates are not checked. */
export function askHttps(
  port: number,
  path: string,
  { token, host = "127.0.0.1", agent }: { token?: string; host?: string; agent?: Agent } = {},
): Promise<HttpsAnswer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(
      { host, port, path, headers, agent: agent ?? false, rejectUnauthorized: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    asked.setTimeout(20_000, () => asked.destroy(new Error("no answer in 20 s")));
    asked.on("error", reject);
    asked.end();
  });
}

/** The certificate that a new connection is shown. */
export function readCertificate(port: number, host = "127.0.0.1"): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Asks without a pause until the signal aborts: two on new connections, two on kept ones. */
export async function runHttpsLoad(
  port: number,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly done: number; readonly failures: readonly string[] }> {
  const failures: string[] = [];
  let done = 0;
  const askOn = async (path: string, agent?: Agent): Promise<void> => {
    while (!signal.aborted) {
      const options = { ...(path === "/metrics" && { token }), ...(agent && { agent }) };
      const { status } = await askHttps(port, path, options).catch((error: unknown) => ({
        status: String(error),
      }));
      if (status !== 200) failures.push(`${path}: ${status}`);
      done += 1;
    }
  };
  const agents = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  await Promise.all([
    askOn("/metrics"),
    askOn("/healthz"),
    askOn("/metrics", agents[0]),
    askOn("/healthz", agents[1]),
  ]);
  for (const agent of agents) agent.destroy();
  return { done, failures };
}
