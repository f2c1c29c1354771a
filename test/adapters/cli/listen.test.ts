import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliServer } from "./client-server.ts";
import { node, run } from "./run-cli.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe.skipIf(node.missing)("ringport listen", () => {
  const cli = new CliServer();
  const receivedEvents: unknown[] = [];
  const verifier = new Webhook(SECRET);
  const endpoint = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    receivedEvents.push(verifier.verify(body, request.headers as Record<string, string>));
    response.writeHead(receivedEvents.length === 1 ? 500 : 204).end();
  });
  beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
  afterAll(() => void endpoint.close());

  test("forwards each new event once, signed, until Ctrl-C", async () => {
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
    const { client, instanceId } = await cli.caller("listener");
    const before = await client.get("/v1/events");
    const command = await cli.start("listener", ["listen", "--forward-to", url, "--secret", SECRET, "--json"]);
    let stderrText = "";
    command.child.stderr?.on("data", (text) => {
      stderrText += text;
    });
    await expect.poll(() => stderrText, { timeout: 15_000 }).toMatch(/Forwarding events to/);
    const call = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
    await client.waitForCall(call.id);
    const log = (await client.get("/v1/events?limit=200")).json<unknown[]>();
    const expected = log.slice(before.json<unknown[]>().length);
    await expect.poll(() => receivedEvents.length, { timeout: 10_000 }).toBe(expected.length);
    expect(receivedEvents).toEqual(expected);
    await expect.poll(() => command.stdout().split("\n").length - 1, { timeout: 10_000 }).toBe(expected.length);
    const [first, second] = command.stdout().split("\n");
    expect(JSON.parse(first ?? "")).toEqual({ event: expected[0], status: 500, error: null });
    expect(JSON.parse(second ?? "")).toMatchObject({ status: 204 });
    command.child.kill("SIGINT");
    expect(await command.finished).toMatchObject({ code: 0 });
  });

  test.each([
    [["listen"], /--forward-to is "": it must be/],
    [["listen", "--forward-to", "localhost"], /--forward-to is "localhost": it must be/],
    [["listen", "--forward-to", "http://127.0.0.1:1/", "--secret", "?"], /--secret is not a webhook secret/],
  ])("refuses %j and names the fix", async (args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
