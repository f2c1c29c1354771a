import { expect, test } from "vitest";
import { tone } from "../../src/audio/tones/tone.ts";
import { openPhone } from "../support/phone-client.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { toneMs } from "../support/server-sound.ts";
import { STREAMS, streamCall } from "../support/stream-calls.ts";

const NUMBER = "+12025550147";
const RATE = 16_000;

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target, { env: STREAMS });

  test("a phone rings, carries a tone each way, and hangs up", async () => {
    const client = await server.as("ada");
    const phone = await openPhone(server.base, client, NUMBER);
    const { call, open, dial } = await streamCall(server, { to: NUMBER, client });
    const stream = await open({ query: { audio: "callee" } });
    await dial();
    await phone.message("ringing");
    phone.send({ type: "answer", call_id: call.id });
    await phone.message("answered");
    await stream.event("answered");
    const stopSpeaking = new AbortController();
    const speech = phone.speak(tone(1_000, 12_000, RATE, 8_000), RATE, stopSpeaking.signal);
    await stream.write(tone(440, 1_000, RATE, 8_000));
    const isLongEnough = (ms: number): boolean => ms > 500;
    await until(() => toneMs(phone.sound(RATE), 440), isLongEnough, 10_000, "the caller's tone at the phone");
    await until(() => toneMs(stream.sound(RATE), 1_000), isLongEnough, 10_000, "the phone's tone at the caller");
    stopSpeaking.abort();
    await speech;
    phone.send({ type: "hang_up", call_id: call.id });
    expect(await phone.message("ended")).toMatchObject({ cause: "callee_hung_up" });
    expect((await client.waitForCall(call.id)).outcome).toMatchObject({ reason: "callee_hung_up" });
    phone.ws.close(1000);
  });

  test("a phone whose connection is cut ends its call", async () => {
    const client = await server.as("ada");
    const phone = await openPhone(server.base, client, NUMBER);
    const { call, open, dial } = await streamCall(server, { to: NUMBER, client });
    const stream = await open();
    await dial();
    await phone.message("ringing");
    phone.send({ type: "answer", call_id: call.id });
    await stream.event("answered");
    phone.ws.terminate();
    expect((await client.waitForCall(call.id)).outcome).toMatchObject({ reason: "callee_hung_up" });
  });
});
