import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { certificateAuthority } from "../support/certificates.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { send, sendRaw } from "../support/server-http.ts";
import { STREAMS, streamCall } from "../support/stream-calls.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const authority = certificateAuthority();
const folder = temporaryFolder("tls");
const files = { RINGPORT_TLS_CERT: join(folder, "cert.pem"), RINGPORT_TLS_KEY: join(folder, "key.pem") };
const systemAuthorities = getCACertificates();

beforeAll(() => {
  const { cert, key } = authority.issue({ names: ["127.0.0.1"] });
  writeFileSync(files.RINGPORT_TLS_CERT, cert);
  writeFileSync(files.RINGPORT_TLS_KEY, key);
  setDefaultCACertificates([...systemAuthorities, authority.ca]);
});
afterAll(() => setDefaultCACertificates(systemAuthorities));

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target, { env: { ...STREAMS, ...files } });

  test("every printed address and every link is https", async () => {
    expect(server.base).toMatch(/^https:/);
    expect(server.output).not.toContain("http:");
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const { message } = expected(200, await client.get(`/v1/instances/${id}/configure`)).json<{ message: string }>();
    expect(message).toContain(`${server.base}/`);
  });

  test("a stream is a secure WebSocket, and carries audio", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open({ query: { audio: "callee" } });
    await dial();
    expect(stream.ws.url).toMatch(/^wss:/);
    await stream.write(new Int16Array(1_600));
    await stream.waitUntilReceived();
    await until(
      () => stream.frames.length,
      (frames) => frames > 0,
      10_000,
      "audio of the callee",
    );
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await stream.closed()).toMatchObject({ code: 4010 });
  });

  test("a request without TLS gets no response", async () => {
    const plainUrl = server.base.replace("https:", "http:");
    const headers = { authorization: `Bearer ${server.firstToken}` };
    await expect(send("GET", `${plainUrl}/v1/instances`, { headers })).rejects.toThrow();
    const { text, closed } = await sendRaw(plainUrl, "GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(closed).toBe(true);
    expect(text).not.toMatch(/HTTP\/1.1 200|Ringport/);
  });
});
