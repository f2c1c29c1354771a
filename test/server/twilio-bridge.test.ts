import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type Program, startProgram } from "../examples/program.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, type Server, useServer } from "../support/server.ts";
import { type Client, expected, until } from "../support/server-client.ts";
import { loudness } from "../support/server-sound.ts";
import { TwilioBot, type TwilioBotOptions } from "../support/twilio-bot.ts";
import {
  decodeHeard,
  expectClosedOnPurpose,
  indexOfSamples,
  NUMBERS,
  placeCall,
  TWILIO_SETTINGS,
  waitUntilClosed,
} from "../support/twilio-calls.ts";

const BRIDGE = fileURLToPath(new URL("../../examples/twilio-bridge.ts", import.meta.url));

/** A bot for Twilio, a WebSocket server, and the bridge that connects it to a call. */
async function bridge(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  server: Server,
  { client, callId }: { client: Client; callId: string },
  options: TwilioBotOptions = {},
): Promise<{ program: Program; bots: TwilioBot[]; signatures: unknown[]; url: string }> {
  const bots: TwilioBot[] = [];
  const signatures: unknown[] = [];
  const webSocketServer = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => webSocketServer.close());
  webSocketServer.on("connection", (ws: WebSocket, request) => {
    bots.push(new TwilioBot(ws, options));
    signatures.push(request.headers["x-twilio-signature"]);
  });
  await once(webSocketServer, "listening");
  const url = `ws://127.0.0.1:${(webSocketServer.address() as AddressInfo).port}/media`;
  const env = { RINGPORT_URL: server.base, RINGPORT_TOKEN: client.token ?? "", TWILIO_AUTH_TOKEN: "secret" };
  const program = startProgram(server.target.runtime, [BRIDGE, callId, url], server.data, env);
  onTestFinished(program.end);
  return { program, bots, signatures, url };
}

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  describe("the bridge to a bot for Twilio Media Streams", () => {
    const server = useServer(target, { env: { ...TWILIO_SETTINGS, RINGPORT_SIMULATOR_TIME_SCALE: "3" } });

    test.concurrent("a bot written as a server works through the bridge", async (context) => {
      const call = await placeCall(server, NUMBERS.greetsAndBeeps);
      const { program, bots, signatures } = await bridge(context, server, call, { hangUpAt: "utterance 1" });
      expect(await program.finalOutput).toContain("The bot has closed its stream");
      expectClosedOnPurpose(await call.client.waitForCall(call.callId));
      expect(bots).toHaveLength(1);
      const [bot] = bots;
      expect(bot?.messages.slice(0, 2).map(({ event }) => event)).toEqual(["connected", "start"]);
      expect(signatures).toEqual([expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/)]);
      const utterance = decodeHeard(bot!.utterances[0]!);
      expect(loudness(utterance)).toBeGreaterThan(300);
      expect(indexOfSamples(await call.client.heard(call.callId), utterance.samples)).toBeGreaterThanOrEqual(0);
    });

    test.concurrent("the bridge does not connect the bot for an unanswered call", async (context) => {
      const { client, callId } = await placeCall(server, NUMBERS.ringsOn);
      const { program, bots } = await bridge(context, server, { client, callId });
      const readStream = async (): Promise<string> => (await client.get(`/v1/calls/${callId}/stream`)).text;
      await until(readStream, (text) => text.includes("stream_already_attached"), 20_000, "the bridge to attach");
      expected(204, await client.delete(`/v1/calls/${callId}`));
      await expect(program.finalOutput).rejects.toThrow("The call has closed its stream (4010 the call failed)");
      expect(bots).toEqual([]);
    });

    test.concurrent("the bot receives stop when the call is ended", async (context) => {
      const { client, callId } = await placeCall(server, NUMBERS.listens);
      const { program, bots } = await bridge(context, server, { client, callId });
      await until(
        () => bots[0]?.messagesOf("media").length ?? 0,
        (count) => count > 0,
        20_000,
        "audio at the bot",
      );
      expected(204, await client.delete(`/v1/calls/${callId}`));
      await program.finalOutput.catch(() => {}); // whether it succeeds does not matter here
      expect(await waitUntilClosed(bots[0]!)).toMatchObject({ code: 1000 });
      expect(bots[0]?.messages.at(-1)?.event).toBe("stop");
    });

    test.concurrent("the bridge prints the reason for a missing stream", async (context) => {
      const { client } = await placeCall(server, NUMBERS.busy);
      const { program } = await bridge(context, server, { client, callId: "call_01k7zq3n5de7h9k1m3p5r7t9vb" });
      await expect(program.finalOutput).rejects.toThrow("call_not_found");
    });
  });
});
