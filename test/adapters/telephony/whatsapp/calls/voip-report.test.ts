import fc from "fast-check";
import { expect, test } from "vitest";
import type { VoipEvent } from "../../../../../adapters/telephony/whatsapp/calls/call-port.ts";
import { readVoipEvent } from "../../../../../adapters/telephony/whatsapp/calls/voip-report.ts";
import { fuzz } from "../../../../support/fuzz.ts";

const event = (value: unknown): VoipEvent => value as VoipEvent;

test("a client event has its call's state at that moment", () => {
  const stateData = { state: "ringing", audioMuted: false, endReason: undefined as string | undefined };
  const call = { callId: "A1", peerJid: "1@lid", direction: "outgoing", stateData };
  const report = readVoipEvent(event({ type: "state", call }));
  stateData.state = "ended";
  stateData.endReason = "user_ended";
  expect(report).toEqual({ type: "state", callId: "A1", peerJid: "1@lid", state: "ringing" });
  const endedReport = { type: "ended", callId: "A1", peerJid: "1@lid", reason: "user_ended" };
  expect(readVoipEvent(event({ type: "state", call }))).toEqual(endedReport);
  expect(readVoipEvent(event({ type: "ended", call }))).toEqual(endedReport);
  const pcm = new Float32Array(3);
  expect(readVoipEvent(event({ type: "inbound_audio", call, pcm }))).toMatchObject({ type: "inbound_audio", pcm });
});

test("a plugin error, and an event without a call, are ignored", () => {
  expect(readVoipEvent({ type: "error", error: new Error("codec") })).toBeUndefined();
  for (const call of [undefined, null, {}, { callId: 7 }, { callId: "A1" }, { callId: "A1", stateData: { state: 7 } }])
    expect(readVoipEvent(event({ type: "state", call }))).toBeUndefined();
  expect(readVoipEvent(event({ type: "inbound_audio", call: { callId: "A1" }, pcm: [1] }))).toBeUndefined();
});

fuzz(
  "an event of any shape is read without throwing",
  fc.property(
    fc.record({
      type: fc.constantFrom("state", "ended", "inbound_audio", "error"),
      call: fc.anything(),
      pcm: fc.anything(),
    }),
    (value) => {
      const report = readVoipEvent(event(value));
      if (report) expect(typeof report.callId).toBe("string");
    },
  ),
);
