import { describe, expect, test } from "vitest";
import type {
  StreamClient,
  StreamEvent,
  Transcript,
} from "../../../src/application/call-audio/streams/stream-client.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, NUMBER, World, type WorldOptions } from "../../support/application.ts";
import { type MeasuringSession, MeasuringTranscription } from "../../support/measuring-transcription.ts";

/** A client that records its events. */
class EventRecorder implements StreamClient {
  readonly calleeRate: number | undefined = undefined;
  readonly events: StreamEvent[] = [];
  readonly transcripts: Transcript[] = [];
  endEvent: string | undefined;
  event(event: StreamEvent): void {
    this.events.push(event);
  }
  transcript(transcript: Transcript): void {
    this.transcripts.push(transcript);
  }
  callee(): void {}
  over(end: string): void {
    this.endEvent = end;
  }
}

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
  readonly client: EventRecorder;
  readonly attachment: Awaited<ReturnType<typeof attach>>;
}

async function attach(world: World, call: Call, client: StreamClient) {
  return (await world.app.calls.stream(ALICE, call.id)).attach(client);
}

/** A stream call that rings, with a client. */
async function ringingScene(options: WorldOptions = {}): Promise<Scene> {
  const world = await World.start({ streamPreview: true, ...options });
  const instance = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId: instance.id,
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: NUMBER },
  });
  await world.system.settle();
  const client = new EventRecorder();
  const attachment = await attach(world, call, client);
  const leg = world.leg(call);
  leg.placed();
  await world.system.settle();
  return { world, call, leg, client, attachment };
}

/** The same call after its answer. */
async function answeredScene(options: WorldOptions = {}): Promise<Scene> {
  const scene = await ringingScene(options);
  scene.leg.answer();
  await scene.world.system.settle();
  return scene;
}

const voice = (hz: number, ms: number, { sampleRate }: ScriptedLeg): Int16Array => tone(hz, ms, sampleRate, 8_000);
const pause = (ms: number, { sampleRate }: ScriptedLeg): Int16Array => new Int16Array((ms * sampleRate) / 1000);
const texts = ({ client }: Scene): string[] => client.transcripts.map(({ text }) => text);

test("a requeued call is transcribed once", async () => {
  const transcription = new MeasuringTranscription();
  const world = await World.start({ streamPreview: true, transcription });
  const instance = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId: instance.id,
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: NUMBER },
  });
  await world.system.settle();
  await attach(world, call, new EventRecorder());
  world.leg(call).end("line_lost");
  await world.system.settle();
  await world.system.advance(5_000);
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.advance(1_000);
  expect(transcription.sessions.map(({ options }) => options.speaker)).toEqual(["callee"]);
  await world.stop();
});

describe("the callee's speech", () => {
  test("becomes a transcript after half a second of silence, with its time", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const { world, leg, client, call } = scene;
    leg.say(concatPcm([pause(1_000, leg), voice(440, 800, leg)]));
    await world.system.advance(2_200);
    expect(texts(scene)).toEqual([]);
    await world.system.advance(200);
    expect(texts(scene)).toEqual(["tone 440"]);
    const answeredAt = (await world.storedCall(call)).startedAt ?? 0;
    const [transcript] = client.transcripts;
    expect(transcript).toMatchObject({ final: true, speaker: "callee" });
    // It started 1,000 ms after the answer; the turn includes 300 ms before it.
    expect(transcript!.timestamp - answeredAt).toBeGreaterThanOrEqual(680);
    expect(transcript!.timestamp - answeredAt).toBeLessThanOrEqual(740);
    await world.stop();
  });

  test("is pushed with the 300 ms before it, and silence is not", async () => {
    const transcription = new MeasuringTranscription();
    const { world, leg } = await answeredScene({ transcription });
    leg.say(concatPcm([pause(5_000, leg), voice(440, 800, leg), pause(5_000, leg), voice(600, 400, leg)]));
    await world.system.advance(14_000);
    const [session] = transcription.sessions as [MeasuringSession];
    expect(session.turns).toHaveLength(2);
    const [first, second] = session.turns as [{ startMs: number; ms: number }, { startMs: number; ms: number }];
    expect(Math.abs(first.startMs - 4_700)).toBeLessThanOrEqual(40);
    expect(Math.abs(first.ms - (300 + 800 + 500))).toBeLessThanOrEqual(40);
    expect(Math.abs(second.startMs - (4_700 + 5_800))).toBeLessThanOrEqual(40);
    expect(Math.abs(second.ms - (300 + 400 + 500))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("is one turn across a short pause, and a click is not a turn", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const { world, leg } = scene;
    leg.say(concatPcm([pause(500, leg), voice(880, 20, leg), pause(1_500, leg)]));
    leg.say(concatPcm([voice(440, 500, leg), pause(300, leg), voice(440, 500, leg)]));
    await world.system.advance(6_000);
    expect(texts(scene)).toEqual(["tone 440"]);
    expect(transcription.sessions[0]?.turns).toHaveLength(1);
    await world.stop();
  });

  test("is cut after 30 s if it has no pause, without loss", async () => {
    const transcription = new MeasuringTranscription();
    const { world, leg } = await answeredScene({ transcription });
    const syllables = Array.from({ length: 100 }, () => concatPcm([voice(440, 300, leg), pause(100, leg)]));
    leg.say(concatPcm([pause(1_000, leg), ...syllables]));
    await world.system.advance(45_000);
    const [first, second, ...otherTurns] = transcription.sessions[0]!.turns;
    expect(otherTurns).toEqual([]);
    expect(first!.ms).toBe(30_000);
    expect(second!.startMs).toBe(first!.startMs + 30_000);
    expect(Math.abs(first!.ms + second!.ms - (300 + 40_000 - 100 + 500))).toBeLessThanOrEqual(60);
    await world.stop();
  });

  test("is resampled once for an engine that needs another rate, at the right times", async () => {
    const transcription = new MeasuringTranscription({ sampleRates: [24_000] });
    const scene = await answeredScene({ transcription });
    const { world, leg } = scene;
    leg.say(concatPcm([pause(1_000, leg), voice(1_200, 800, leg)]));
    await world.system.advance(3_000);
    expect(texts(scene)).toEqual(["tone 1200"]);
    const [session] = transcription.sessions as [MeasuringSession];
    expect(session.options.sampleRate).toBe(24_000);
    const [turn] = session.turns;
    expect(Math.abs(turn!.startMs - 700)).toBeLessThanOrEqual(40);
    expect(Math.abs(turn!.ms - 1_600)).toBeLessThanOrEqual(40);
    // Each push follows the previous one without a gap.
    for (const [i, { atMs, samples }] of session.pushes.entries()) {
      const next = session.pushes[i + 1];
      if (next) expect(Math.abs(next.atMs - atMs - samples / 24)).toBeLessThan(0.5);
    }
    await world.stop();
  });

  test("reaches an engine that detects turns itself, silence included", async () => {
    const transcription = new MeasuringTranscription({ endOfTurn: true });
    const { world, leg } = await answeredScene({ transcription });
    leg.talkative = false;
    await world.system.advance(1_000);
    leg.talkative = true;
    await world.system.advance(1_000);
    const [session] = transcription.sessions as [MeasuringSession];
    expect(session.pushes[0]?.atMs).toBe(0);
    expect(session.pushes.map(({ atMs }) => atMs)).toEqual(session.pushes.map((_, i) => i * 20));
    expect(Math.abs(session.pushes.length - 100)).toBeLessThanOrEqual(2);
    await world.stop();
  });
});

describe("the caller's speech", () => {
  test("is transcribed on request, as the callee hears it", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription, transcriptSpeakers: ["callee", "caller"] });
    const { world, leg, client, attachment } = scene;
    leg.say(concatPcm([pause(2_500, leg), voice(440, 500, leg)]));
    await world.system.advance(500);
    attachment.write(tone(880, 700, 24_000, 8_000), 24_000);
    await world.system.advance(5_000);
    expect(client.transcripts.map(({ speaker, text }) => [speaker, text])).toEqual([
      ["caller", "tone 880"],
      ["callee", "tone 440"],
    ]);
    const [caller, callee] = client.transcripts.map(({ timestamp }) => timestamp) as [number, number];
    expect(Math.abs(callee - caller - 2_000)).toBeLessThanOrEqual(60);
    await world.stop();
  });

  test("is not transcribed otherwise", async () => {
    const transcription = new MeasuringTranscription();
    const { world, attachment } = await answeredScene({ transcription });
    attachment.write(tone(880, 700, 8_000, 8_000), 8_000);
    await world.system.advance(3_000);
    expect(transcription.sessions.map(({ options }) => options.speaker)).toEqual(["callee"]);
    expect(transcription.sessions[0]?.turns).toEqual([]);
    await world.stop();
  });
});

describe("a transcript", () => {
  test("is stored with the call: final texts, in spoken order", async () => {
    const transcription = new MeasuringTranscription();
    const { world, call, leg } = await answeredScene({ transcription });
    await world.system.advance(5_000);
    const [session] = transcription.sessions as [MeasuringSession];
    session.emit({ type: "partial", text: "tw", startMs: 3_000 });
    session.emit({ type: "final", text: " two ", startMs: 3_000, endMs: 4_000, confidence: 0.75 });
    session.emit({ type: "final", text: "one", startMs: 1_000.4, endMs: 2_000 });
    session.emit({ type: "final", text: "  ", startMs: 4_000, endMs: 4_500 });
    await world.system.settle();
    const answeredAt = (await world.storedCall(call)).startedAt ?? 0;
    const transcript = (await world.app.calls.transcripts(ALICE, [call])).get(call.id);
    expect(transcript).toEqual([
      {
        callId: call.id,
        position: 1,
        speaker: "callee",
        text: "one",
        timestamp: answeredAt + 1_000,
        startMs: 1_000,
        endMs: 2_000,
        confidence: null,
      },
      {
        callId: call.id,
        position: 0,
        speaker: "callee",
        text: "two",
        timestamp: answeredAt + 3_000,
        startMs: 3_000,
        endMs: 4_000,
        confidence: 0.75,
      },
    ]);
    leg.end("callee_hung_up");
    await world.stop();
  });

  test("is stored when the storage is back, without delaying the call", async () => {
    const transcription = new MeasuringTranscription();
    const { world, call, client } = await answeredScene({ transcription });
    world.storage.before = (operation) => {
      if (operation === "transcripts.append") throw new Error("the disk is full");
    };
    const [session] = transcription.sessions as [MeasuringSession];
    session.emit({ type: "final", text: "one", startMs: 100, endMs: 200 });
    await world.system.advance(1_000);
    expect(client.transcripts).toHaveLength(1);
    expect((await world.app.calls.transcripts(ALICE, [call])).size).toBe(0);
    world.storage.before = () => {};
    session.emit({ type: "final", text: "two", startMs: 300, endMs: 400 });
    await world.system.settle();
    expect((await world.app.calls.transcripts(ALICE, [call])).get(call.id)?.map(({ text }) => text)).toEqual([
      "one",
      "two",
    ]);
    await world.stop();
  });

  test("is sent to the next client if it became final without one", async () => {
    const transcription = new MeasuringTranscription();
    const { world, call, attachment } = await answeredScene({ transcription });
    const [session] = transcription.sessions as [MeasuringSession];
    attachment.detach(false);
    session.emit({ type: "partial", text: "on", startMs: 100 });
    session.emit({ type: "final", text: "one", startMs: 100, endMs: 200 });
    await world.system.settle();
    const next = new EventRecorder();
    await attach(world, call, next);
    expect(next.transcripts.map(({ text }) => text)).toEqual(["one"]);
    session.emit({ type: "final", text: "two", startMs: 300, endMs: 400 });
    await world.system.settle();
    expect(next.transcripts.map(({ text }) => text)).toEqual(["one", "two"]);
    await world.stop();
  });
});

describe("a final transcript that was sent to a client after it had disconnected", () => {
  const sayFinal = async ({ world }: Scene, session: MeasuringSession, text: string) => {
    const startMs = 100 * session.pushes.length;
    session.emit({ type: "partial", text: text.slice(0, 1), startMs });
    session.emit({ type: "final", text, startMs, endMs: startMs + 50 });
    await world.system.settle();
  };

  test("is replayed to later clients in order, until one responds", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const { world, call, client, attachment } = scene;
    const [session] = transcription.sessions as [MeasuringSession];
    await sayFinal(scene, session, "one");
    await world.system.advance(10_000);
    attachment.detach(false);
    await sayFinal(scene, session, "two");
    const second = new EventRecorder();
    const next = await attach(world, call, second);
    expect(second.transcripts.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(second.transcripts[0]).toEqual(client.transcripts.find(({ final }) => final));
    next.detach(false);
    const third = new EventRecorder();
    const last = await attach(world, call, third);
    expect(third.transcripts).toEqual(second.transcripts);
    await world.system.advance(3_000);
    await sayFinal(scene, session, "three");
    last.took();
    last.detach(false);
    const fourth = new EventRecorder();
    await attach(world, call, fourth);
    expect(fourth.transcripts.map(({ text }) => text)).toEqual(["three"]); // may have been in transit when the client responded
    await world.stop();
  });

  test("is not replayed if the client stayed longer than a broken connection can", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const { world, call, attachment } = scene;
    const [session] = transcription.sessions as [MeasuringSession];
    await sayFinal(scene, session, "one");
    await world.system.advance(15_001);
    attachment.detach(false);
    const next = new EventRecorder();
    await attach(world, call, next);
    expect(next.transcripts).toEqual([]);
    await world.stop();
  });
});

describe("the last words", () => {
  test("arrive before the end, even if the callee hangs up in a turn", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const { world, leg, client, call } = scene;
    leg.say(concatPcm([pause(500, leg), voice(440, 800, leg)]));
    await world.system.advance(1_000);
    expect(client.transcripts).toEqual([]);
    leg.end("callee_hung_up");
    await world.system.settle();
    expect(texts(scene)).toEqual(["tone 440"]);
    expect(client.endEvent).toBe("completed");
    expect((await world.storedCall(call)).status).toBe("COMPLETED");
    await world.stop();
  });

  test("are awaited for one second; later ones are still stored", async () => {
    const transcription = new MeasuringTranscription();
    let release = () => {};
    transcription.answering = new Promise<void>((resolve) => {
      release = resolve;
    });
    const scene = await answeredScene({ transcription });
    const { world, leg, client, call } = scene;
    leg.say(concatPcm([pause(500, leg), voice(440, 800, leg)]));
    await world.system.advance(1_500);
    const endedAt = world.system.now();
    leg.end("callee_hung_up");
    await world.system.advance(900);
    expect(client.endEvent).toBeUndefined();
    await world.system.advance(200);
    expect(client.endEvent).toBe("completed");
    expect((await world.storedCall(call)).endedAt).toBe(endedAt);
    release();
    await world.system.settle();
    expect(client.transcripts).toEqual([]);
    expect((await world.app.calls.transcripts(ALICE, [call])).get(call.id)?.map(({ text }) => text)).toEqual([
      "tone 440",
    ]);
    await world.stop();
  });

  test("do not delay the end if there are none", async () => {
    const transcription = new MeasuringTranscription();
    const { world, leg, client } = await answeredScene({ transcription });
    await world.system.advance(2_000);
    leg.end("callee_hung_up");
    await world.system.settle();
    expect(client.endEvent).toBe("completed");
    await world.stop();
  });
});

describe("a transcription engine", () => {
  const unavailableNotices = ({ client }: Scene) =>
    client.events.filter(({ event }) => event === "transcripts_unavailable").map(({ data }) => data);

  test("is reported once, after the answer, if it is missing", async () => {
    const scene = await ringingScene();
    expect(unavailableNotices(scene)).toEqual([]);
    scene.leg.answer();
    await scene.world.system.settle();
    expect(scene.client.events.map(({ event }) => event).slice(-2)).toEqual(["answered", "transcripts_unavailable"]);
    expect(unavailableNotices(scene)).toEqual([{ reason: "no_engine" }]);
    await scene.world.stop();
  });

  test("is reported if it fails to open; the call continues", async () => {
    const transcription = new MeasuringTranscription();
    transcription.fault = new Error("no such model");
    const scene = await answeredScene({ transcription });
    expect(unavailableNotices(scene)).toEqual([{ reason: "engine_failed", recoverable: false }]);
    scene.leg.say(voice(440, 800, scene.leg));
    await scene.world.system.advance(2_000);
    expect((await scene.world.storedCall(scene.call)).status).toBe("IN_PROGRESS");
    await scene.world.stop();
  });

  test("is reported once if it fails intermittently, and continues to transcribe", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await answeredScene({ transcription });
    const [session] = transcription.sessions as [MeasuringSession];
    for (let i = 0; i < 3; i++) session.emit({ type: "error", error: new Error("busy"), recoverable: true });
    session.emit({ type: "final", text: "still here", startMs: 0, endMs: 10 });
    await scene.world.system.settle();
    expect(unavailableNotices(scene)).toEqual([{ reason: "engine_failed", recoverable: true }]);
    expect(texts(scene)).toEqual(["still here"]);
    session.emit({ type: "error", error: new Error("the key was revoked"), recoverable: false });
    await scene.world.system.settle();
    expect(unavailableNotices(scene)).toEqual([
      { reason: "engine_failed", recoverable: true },
      { reason: "engine_failed", recoverable: false },
    ]);
    await scene.world.stop();
  });

  test("does not disturb the call if it throws on the leg's clock", async () => {
    const transcription = new MeasuringTranscription({ endOfTurn: true });
    const scene = await answeredScene({ transcription });
    transcription.sessions[0]!.fault = new Error("a bug");
    await scene.world.system.advance(1_000);
    expect(unavailableNotices(scene)).toEqual([{ reason: "engine_failed", recoverable: false }]);
    expect((await scene.world.storedCall(scene.call)).status).toBe("IN_PROGRESS");
    await scene.world.stop();
  });

  test("gets the words spoken in the meantime if it opens slowly", async () => {
    const transcription = new MeasuringTranscription();
    let open = () => {};
    transcription.opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const scene = await answeredScene({ transcription });
    const { world, leg } = scene;
    leg.say(concatPcm([pause(500, leg), voice(440, 800, leg)]));
    await world.system.advance(3_000);
    expect(texts(scene)).toEqual([]);
    open();
    await world.system.settle();
    expect(texts(scene)).toEqual(["tone 440"]);
    await world.stop();
  });

  test("is not opened for an unanswered call", async () => {
    const transcription = new MeasuringTranscription();
    const { world, leg, client } = await ringingScene({ transcription });
    leg.end("busy");
    await world.system.settle();
    expect(client.endEvent).toBe("failed");
    expect(transcription.sessions).toEqual([]);
    await world.stop();
  });
});
