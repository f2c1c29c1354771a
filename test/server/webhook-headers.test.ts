import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ALL_TARGETS, describeEach, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";

describeEach(ALL_TARGETS, (target) => {
  const server = useServer(target, { env: { RINGPORT_WEBHOOKS_ALLOW_PRIVATE: "1" } });

  test("a webhook has its own headers, and the server shows their names only", async () => {
    const receivedHeaders: IncomingHttpHeaders[] = [];
    const receiver = createServer((request, response) => {
      receivedHeaders.push(request.headers);
      response.writeHead(204).end();
    });
    onTestFinished(() => void receiver.close());
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const client = await server.as("ada");
    const body = JSON.stringify({
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`,
      events: ["instance.created"],
      headers: { Authorization: "Bearer 7f3a9c", "X-Key": "4e5d6b" },
    });
    const creation = expected(201, await client.send("POST", "/v1/webhooks", { body }));
    await client.activeInstance();
    await expect.poll(() => receivedHeaders.length).toBe(1);
    expect(receivedHeaders[0]).toMatchObject({
      authorization: "Bearer 7f3a9c",
      "x-key": "4e5d6b",
      "content-type": "application/json",
      "user-agent": "Ringport-Webhooks",
      "webhook-signature": expect.stringMatching(/^v1,/),
    });
    const { id } = creation.json<{ id: string }>();
    const responses = [creation, expected(200, await client.send("GET", `/v1/webhooks/${id}`))];
    for (const response of responses) {
      expect(response.json()).toMatchObject({ header_names: ["authorization", "x-key"] });
      expect(response.text).not.toMatch(/7f3a9c|4e5d6b/);
    }
    expect(server.output).not.toMatch(/7f3a9c|4e5d6b/);
  });
});
