import { describe, expect, test } from "vitest";
import { LINE_CHECK_MS, LINE_LIMIT_MS } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts";
import { tone } from "../../../../../src/audio/tones/tone.ts";
import { audiblePart, CallScene, endOf, notesOf, typesOf } from "./scene.ts";

const silentDevice = { does: "nothing" } as const;

describe("the rules of the adapter", () => {
  test("1: the reason why a call has ended is read from the stanza, not from the client", async () => {
    const scene = await CallScene.start({ devices: [silentDevice], timesOutAfterMs: 3_000 });
    const call = await scene.call();
    await scene.system.advance(4_000);
    const [endedCall] = scene.fakeNetwork.argumentsOf("voip_call_ended");
    expect(endedCall.stateData.endReason).toBe("user_ended");
    expect(endOf(call)?.cause).toBe("no_answer");
    expect(scene.fakeNetwork.argumentsOf("call")).toEqual([]); // rule 2: the plugin never emits this event
  });

  test("3: events are handled after client.voip has become a new object", async () => {
    const scene = await CallScene.start({ devices: [silentDevice] });
    const first = await scene.call();
    void first.leg.hangUp();
    await scene.system.advance(100);
    const earlierVoip = scene.client.voip;
    await scene.client.disconnect();
    void scene.client.connect();
    await scene.system.advance(500);
    expect(scene.client.voip).not.toBe(earlierVoip);
    const second = await scene.call();
    await scene.system.advance(500);
    expect(typesOf(second)).toEqual(["placed", "alerting"]);
    void second.leg.hangUp();
    await scene.system.advance(100);
    expect(second.callee.ended).toBe("caller");
  });

  test("3: a client that returns without the call ends it: line_lost", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    scene.port.lose();
    await scene.client.disconnect();
    void scene.client.connect();
    await scene.system.advance(500);
    scene.port.restore();
    await scene.system.settle();
    expect(endOf(call)).toEqual({ cause: "line_lost", detail: "the client has reconnected without this call" });
  });

  test("3: a client that accepts no audio ends the call: line_lost", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall(tone(440, 60_000, 16_000, 9_000));
    await scene.client.disconnect();
    void scene.client.connect();
    await scene.system.advance(1_000);
    expect(endOf(call)?.cause).toBe("line_lost");
  });

  test("4: a call is placed while a person rings the number", async () => {
    const scene = await CallScene.start();
    const incomingCall = scene.network.ring(scene.client);
    await scene.system.advance(100);
    const call = await scene.connectedCall();
    await scene.system.advance(1_000);
    expect([endOf(call), incomingCall.touched]).toEqual([undefined, false]);
  });

  test("5: an incoming call is never touched, whatever happens to the outgoing call", async () => {
    const scene = await CallScene.start({ hangsUpAfterMs: 2_000 });
    const { voip } = scene.client;
    const endedIds: string[] = [];
    const endCall = voip.endCall.bind(voip);
    voip.endCall = async (callId, reason) => {
      endedIds.push(callId);
      await endCall(callId, reason);
    };
    const call = await scene.call();
    const incomingCall = scene.network.ring(scene.client);
    await scene.system.advance(10_000);
    expect(endOf(call)?.cause).toBe("callee_hung_up");
    expect(endedIds).toEqual([]);
    expect(incomingCall.touched).toBe(false);
    expect(notesOf(call)).toEqual(["address_resolved"]);
  });

  test("6: the number is looked up first, and its hidden address is called", async () => {
    const scene = await CallScene.start({ devices: [silentDevice], lid: "4242@lid" });
    const call = await scene.call();
    expect(call.callee.peerJid).toBe("4242@lid");
  });

  test("7: no audio is fed before the call is active, and the beginning of the message is heard", async () => {
    const scene = await CallScene.start({ mediaAfterMs: 2_000 });
    const feedStates: string[] = [];
    const { voip } = scene.client;
    const feed = voip.feedLiveAudio.bind(voip);
    voip.feedLiveAudio = (callId, samples) => {
      feedStates.push(voip.getCall(callId)?.stateData.state ?? "");
      return feed(callId, samples);
    };
    const message = tone(440, 900, 16_000, 9_000);
    const call = await scene.connectedCall(message);
    await scene.system.advance(3_000);
    expect(new Set(feedStates)).toEqual(new Set(["active"]));
    expect(audiblePart(call.callee.heard)).toEqual(audiblePart(message));
    expect(voip.lostSamples(call.leg.callId)).toBe(0);
  });

  test("8: the client gets complete frames up to its upper watermark, which is read once", async () => {
    const scene = await CallScene.start();
    const { voip } = scene.client;
    const lengths = new Set<number>();
    const levels = new Set<number>();
    const feed = voip.feedLiveAudio.bind(voip);
    voip.feedLiveAudio = (callId, samples) => {
      lengths.add(samples.length);
      const level = feed(callId, samples);
      levels.add(level);
      return level;
    };
    let reads = 0;
    voip.getFeedWatermarksMs = () => {
      reads++;
      return { pauseMs: 120, resumeMs: 60 };
    };
    const call = await scene.connectedCall(tone(440, 5_000, 16_000, 9_000));
    await scene.system.advance(6_000);
    expect([[...lengths], [...levels], reads]).toEqual([[960], [60, 120], 1]);
    expect(call.callee.frames.every(({ samples }) => samples.length === 960)).toBe(true);
  });

  test.each([
    [Number.NaN, 60],
    [60, 120],
    [10_000, 5_000],
  ])("8: the client drops no audio with watermarks of %s and %s ms", async (pauseMs, resumeMs) => {
    const scene = await CallScene.start();
    const { voip } = scene.client;
    voip.getFeedWatermarksMs = () => ({ pauseMs, resumeMs });
    const message = tone(440, 3_000, 16_000, 9_000);
    const call = await scene.connectedCall(message);
    await scene.system.advance(5_000);
    expect(audiblePart(call.callee.heard)).toEqual(audiblePart(message));
    expect(voip.lostSamples(call.leg.callId)).toBe(0);
  });

  test("9: audio that the client has buffered is heard before the call is ended", async () => {
    const scene = await CallScene.start();
    const message = tone(440, 10_000, 16_000, 9_000);
    const call = await scene.connectedCall(message);
    await scene.system.advance(2_015);
    const bufferedMs = scene.client.voip.getLiveBufferMs(call.leg.callId);
    expect(bufferedMs).toBeGreaterThan(0);
    const frameCount = call.callee.frames.length;
    const hungUpAt = scene.system.monotonic();
    void call.leg.hangUp();
    const heardMs = call.playout.heardMs;
    for (let i = 0; i < 100 && endOf(call) === undefined; i++) await scene.system.advance(10);
    expect(scene.system.monotonic() - hungUpAt).toBeLessThan(500);
    const lastFrames = call.callee.frames.slice(frameCount).filter(({ samples }) => audiblePart(samples).length > 0);
    expect(lastFrames.length * 60).toBe(bufferedMs);
    expect(call.playout.heardMs).toBe(heardMs);
  });

  test("10: the end is read from the event, because the client has dropped the call", async () => {
    const scene = await CallScene.start();
    const call = await scene.connectedCall();
    const { voip } = scene.client;
    voip.getCall = () => null;
    call.callee.hangUp();
    await scene.system.advance(100);
    expect(endOf(call)?.cause).toBe("callee_hung_up");
  });

  describe("11: a call whose connection is lost", () => {
    test("has 10 s while it rings", async () => {
      const scene = await CallScene.start({ devices: [silentDevice] });
      const call = await scene.call();
      await scene.system.advance(1_000);
      scene.port.lose("the socket dropped");
      await scene.system.advance(LINE_CHECK_MS - 100);
      expect(endOf(call)).toBeUndefined();
      await scene.system.advance(200);
      expect(endOf(call)).toEqual({ cause: "line_lost", detail: "the socket dropped" });
    });

    test("continues if the connection returns in time, with the call", async () => {
      const scene = await CallScene.start({ devices: [{ does: "answer", afterMs: 6_000 }] });
      const call = await scene.call();
      await scene.system.advance(1_000);
      scene.port.lose();
      await scene.system.advance(2_000);
      scene.port.restore();
      await scene.system.advance(30_000);
      expect(typesOf(call)).toEqual(["placed", "alerting", "answered", "connected"]);
    });

    test("has 30 s while the callee's audio flows", async () => {
      const scene = await CallScene.start();
      const call = await scene.connectedCall();
      scene.port.lose();
      scene.port.lose("again");
      await scene.system.advance(LINE_LIMIT_MS - 100);
      expect(endOf(call)).toBeUndefined();
      await scene.system.advance(200);
      expect(endOf(call)).toEqual({ cause: "line_lost", detail: "the socket dropped" });
    });

    test("has at most 10 s once that audio has stopped", async () => {
      const scene = await CallScene.start();
      const call = await scene.connectedCall();
      scene.port.lose();
      await scene.system.advance(12_000);
      expect(endOf(call)).toBeUndefined();
      call.callee.sendsAudio = false;
      await scene.system.advance(8_200);
      expect(endOf(call)?.cause).toBe("line_lost");
    });
  });
});
