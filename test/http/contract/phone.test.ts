import { describe, expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { openPhone, type PhoneClient } from "../../support/phone-client.ts";
import { expectProblem } from "../../support/response-shapes.ts";
import { expected, until } from "../../support/server-client.ts";
import { toneMs } from "../../support/server-sound.ts";
import { STREAMS, type StreamCall, streamCall } from "../../support/stream-calls.ts";
import type { StreamClient } from "../../support/stream-client.ts";

const RATE = 16_000;
let numberCount = 0;

const server = useLocalServer(STREAMS);

/** Returns a separate number for each test. */
const newNumber = (): string => `+1202555${5_000 + numberCount++}`;

interface InstanceConnection {
  readonly connection: { readonly phone: string };
}

interface PhoneCall extends StreamCall {
  readonly phone: PhoneClient;
  readonly stream: StreamClient;
  /** Answers the call on the phone. */
  answer(): Promise<void>;
}

/** Places a stream call that rings at a phone. */
async function callPhone(): Promise<PhoneCall> {
  const client = await server.as("ada");
  const number = newNumber();
  const phone = await openPhone(server.base, client, number);
  const call = await streamCall(server, { to: number, client });
  const stream = await call.open({ query: { audio: "callee" } });
  await call.dial();
  await phone.message("ringing");
  return {
    ...call,
    phone,
    stream,
    async answer() {
      phone.send({ type: "answer", call_id: call.call.id });
      await phone.message("answered");
      await stream.event("answered");
    },
  };
}

describe.concurrent("a phone over a WebSocket", () => {
  test("rings with the call, its caller ID and its instance", async () => {
    const { call, instance, client, phone } = await callPhone();
    const { connection } = expected(
      200,
      await client.get(`/v1/instances/${instance.id}?expand=connection`),
    ).json<InstanceConnection>();
    expect(await phone.message("ringing")).toEqual({
      type: "ringing",
      call_id: call.id,
      from: { phone_number: connection.phone, display_name: null, withheld: false },
      instance: { id: instance.id, name: instance.name },
      sample_rate: RATE,
    });
    phone.ws.close(1000);
  });

  test("carries a tone each way, and a key as an event of the call", async () => {
    const { call, client, phone, stream, answer } = await callPhone();
    await answer();
    const stopSpeaking = new AbortController();
    // A busy machine causes gaps in real-time speech, so the phone speaks until enough of it has arrived.
    const speech = phone.speak(tone(1_000, 12_000, RATE, 8_000), RATE, stopSpeaking.signal);
    await stream.write(tone(440, 1_500, RATE, 8_000));
    const isMoreThan = (minMs: number) => (ms: number) => ms > minMs;
    await until(() => toneMs(phone.sound(RATE), 440), isMoreThan(1_400), 10_000, "the caller's tone at the phone");
    await until(() => toneMs(stream.sound(RATE), 1_000), isMoreThan(1_000), 10_000, "the phone's tone at the caller");
    stopSpeaking.abort();
    await speech;
    phone.send({ type: "digit", call_id: call.id, digit: "7" });
    expect(await stream.event("dtmf")).toMatchObject({ digit: "7" });
    phone.send({ type: "hang_up", call_id: call.id });
    expect(await phone.message("ended")).toMatchObject({ call_id: call.id, cause: "callee_hung_up" });
    expect(await client.waitForCall(call.id)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "callee_hung_up" },
    });
    const keys = (await client.timeline(call.id)).filter(({ type }) => type === "dtmf");
    expect(keys.map(({ data }) => data.digit)).toEqual(["7"]);
    expect(toneMs(await client.heard(call.id), 440)).toBeGreaterThan(1_400);
    phone.ws.close(1000);
  });

  test("is notified when the caller hangs up", async () => {
    const { call, client, phone, answer } = await callPhone();
    await answer();
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await phone.message("ended")).toEqual({ type: "ended", call_id: call.id, cause: "released" });
    phone.ws.close(1000);
  });

  test("declines a call", async () => {
    const { call, client, phone } = await callPhone();
    phone.send({ type: "decline", call_id: call.id });
    expect(await client.waitForCall(call.id)).toMatchObject({ status: "FAILED", outcome: { reason: "declined" } });
    phone.ws.close(1000);
  });

  test("ends its call when the page is closed", async () => {
    const { call, client, phone, answer } = await callPhone();
    await answer();
    phone.ws.close(1001);
    expect(await client.waitForCall(call.id)).toMatchObject({
      outcome: { reason: "callee_hung_up", detail: expect.stringContaining("the page of the phone was closed") },
    });
  });

  test("is closed with 4001 when its token is revoked", async () => {
    const token = await server.token("revoked");
    const client = server.client(token);
    const phone = await openPhone(server.base, client, newNumber());
    await server.revoke(token);
    expect((await phone.closed()).code).toBe(4001);
  });

  test("is closed with 1009 when it sends a message that is too large", async () => {
    const client = await server.as("large");
    const phone = await openPhone(server.base, client, newNumber());
    phone.ws.send("x".repeat(2_000));
    expect(await phone.closed()).toEqual({
      code: 1009,
      reason: "a message has 2000 characters, at most 1024 are allowed",
    });
  });
});

describe.concurrent("an upgrade to a phone is refused", () => {
  test.each(["12025550147", "+0123456789", "+1202555014a", "%2B12", "+1%00", `+${"1".repeat(40)}`])(
    "for the number %s",
    async (number) => {
      const client = await server.as("ada");
      const error = await openPhone(server.base, client, number).catch((error) => error);
      expect([error.status, error.problem?.code]).toEqual([400, "phone_number_invalid"]);
    },
  );

  test("without a token, for a demo token, and without a handshake", async () => {
    const path = "/simulator/phones/+12025550147";
    expectProblem(await server.client().get(path), 401, "unauthorized");
    const client = await server.as("ada");
    expectProblem(await client.get(path), 426, "upgrade_required");
    const instance = await client.createInstance();
    const demo = server.client(await server.token("ada", { demoInstanceId: instance.id }));
    expectProblem(await demo.get(path), 403, "demo_token_restricted");
  });
});
