import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import type { Agent } from "../../../src/ports/conversation.ts";
import { TranscriptionFailed } from "../../../src/ports/transcription.ts";
import {
  agentCall,
  INTRODUCTION,
  lines,
  ms,
  puppet,
  QUESTION,
  ringing,
  SCRIPT,
  soundMs,
  talkingScene,
  voice,
} from "../../support/agent-calls.ts";
import { ALICE, NUMBER, World } from "../../support/application.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";

describe("an agent call", () => {
  test("speaks after the answer, accepts a key, and ends COMPLETED/agent_finished with its result", async () => {
    const scene = await talkingScene();
    const { world, call, leg } = scene;
    await world.system.advance(ms(INTRODUCTION) + ms(QUESTION) + 500);
    expect(Math.abs(soundMs(scene, 0) - ms(INTRODUCTION) - ms(QUESTION))).toBeLessThanOrEqual(40);
    expect(toneShare(leg.heard.subarray(0, 8_000), 440, leg.sampleRate)).toBeGreaterThan(0.95);
    leg.press("1");
    await world.system.advance(ms("Good.") + 1_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "agent_finished", heardRatio: null },
      result: { visit: "1" },
    });
    expect(await lines(scene)).toEqual([`caller: ${INTRODUCTION}`, `caller: ${QUESTION}`, "caller: Good."]);
    expect(await world.eventTypes(call)).toEqual([
      ...["queued", "ringing", "answered", "agent_started", "answered_by", "dtmf", "completed"],
    ]);
    await world.stop();
  });

  test("renders its first words while the phone rings", async () => {
    const scene = await ringing();
    await scene.world.system.advance(5_000);
    scene.leg.answer();
    await scene.world.system.advance(200);
    expect(soundMs(scene, 0, 100)).toBeGreaterThan(95);
    await scene.world.stop();
  });

  test("stops its question within a frame of the key that answers it", async () => {
    const scene = await talkingScene();
    const { world, leg } = scene;
    await world.system.advance(ms(INTRODUCTION) + 400);
    const pressedAt = (leg.heard.length * 1_000) / leg.sampleRate;
    leg.press("1");
    await world.system.advance(2_000);
    // "Good." follows immediately, and no other sound after it.
    expect(Math.abs(soundMs(scene, pressedAt) - ms("Good."))).toBeLessThanOrEqual(40);
    expect((await lines(scene))[1]).toMatch(/^caller: Press 1/);
    expect((await lines(scene))[1]).not.toContain("no.");
    await world.stop();
  });

  test("ignores keys during words that must be heard", async () => {
    const scene = await talkingScene();
    const { world, call, leg } = scene;
    await world.system.advance(500);
    leg.press("1");
    await world.system.advance(ms(INTRODUCTION) + ms(QUESTION));
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    expect(Math.abs(soundMs(scene, 0) - ms(INTRODUCTION) - ms(QUESTION))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("asks again after 8 s of silence, and not during its own words", async () => {
    const scene = await talkingScene();
    const { world } = scene;
    const questionEndMs = ms(INTRODUCTION) + ms(QUESTION);
    await world.system.advance(questionEndMs + 7_900);
    expect(Math.abs(soundMs(scene, 0) - questionEndMs)).toBeLessThanOrEqual(40);
    await world.system.advance(200 + ms(QUESTION));
    expect(Math.abs(soundMs(scene, 0) - questionEndMs - ms(QUESTION))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("waits while the callee holds the call", async () => {
    const scene = await talkingScene();
    const { world, leg } = scene;
    await world.system.advance(500);
    leg.hold();
    await world.system.advance(60_000);
    leg.resume();
    await world.system.advance(ms(INTRODUCTION) + ms(QUESTION));
    expect(Math.abs(soundMs(scene, 0) - ms(INTRODUCTION) - ms(QUESTION))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("keeps the words heard, and the answers, if the callee hangs up", async () => {
    const scene = await talkingScene([
      "Ask a: A rather long question?",
      "Say: This is a sentence that nobody hears to its end.",
    ]);
    const { world, call, leg } = scene;
    await world.system.advance(ms(INTRODUCTION) + 500);
    leg.press("5");
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    expect(await world.storedCall(call)).toMatchObject({ outcome: { reason: "callee_hung_up" }, result: { a: "5" } });
    const [, question, last] = await lines(scene);
    expect(question).toBe("caller: A rather");
    expect(last).toMatch(/^caller: This is a/);
    expect(last).not.toContain("end.");
    await world.stop();
  });

  test("receives words if the server transcribes", async () => {
    const scene = await talkingScene(SCRIPT, { transcription: new MeasuringTranscription() });
    const { world, call, leg } = scene;
    await world.system.advance(ms(INTRODUCTION) + ms(QUESTION) + 500);
    leg.say(voice(800, leg));
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", result: { visit: "tone 440" } });
    expect(await lines(scene)).toEqual([
      `caller: ${INTRODUCTION}`,
      `caller: ${QUESTION}`,
      "callee: tone 440",
      "caller: A pity.",
    ]);
    await world.stop();
  });

  test("stops 200 ms after the callee starts to speak, and gets their words", async () => {
    const question = "Will you come tomorrow, or rather on another day of this week?";
    const agent = puppet(async function* (input) {
      if (input.type === "begin") yield { type: "say", text: question, interruptible: true };
      else yield { type: "say", text: "So be it.", interruptible: true };
      yield { type: "listen", forMs: 10_000 };
    });
    const scene = await talkingScene(["x"], { agent, transcription: new MeasuringTranscription() });
    const { world, leg } = scene;
    await world.system.advance(500);
    leg.say(voice(800, leg));
    await world.system.advance(800);
    expect(Math.abs(soundMs(scene, 0) - 700)).toBeLessThanOrEqual(60);
    await world.system.advance(2_000);
    expect(Math.abs(soundMs(scene, 1_300) - ms("So be it."))).toBeLessThanOrEqual(40);
    expect((await lines(scene)).slice(1)).toEqual(["callee: tone 440", "caller: So be it."]);
    expect((await lines(scene))[0]).toMatch(/^caller: Will you/);
    await world.stop();
  });

  test("measures its turns", async () => {
    const agent: Agent = {
      ...puppet(async function* () {}),
      begin: () => ({
        firstTokenMs: 123.4,
        async *reply({ type }) {
          const text =
            type === "begin" ? "Will you come tomorrow, or rather on another day of this week?" : "So be it.";
          yield { type: "say", text, interruptible: true };
          yield { type: "listen", forMs: 10_000 };
        },
      }),
    };
    const scene = await talkingScene(["x"], { agent, transcription: new MeasuringTranscription() });
    const { world, call, leg } = scene;
    await world.system.advance(500);
    const spokeAt = (leg.heard.length * 1_000) / leg.sampleRate;
    leg.say(voice(800, leg));
    await world.system.advance(5_000);
    const answeredAt = (leg.heard.findLastIndex((sample) => sample !== 0) * 1_000) / leg.sampleRate - ms("So be it.");
    leg.press("1");
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    const [first, second, third, ...laterTurns] = (await world.storedCall(call)).turns ?? [];
    expect(first).toMatchObject({ input: "begin", turnGapMs: null, interrupted: true, llmTtftMs: 123 });
    // The 800 ms of voice were noticed after 20 ms, and stopped the agent after 200 ms.
    expect(Math.abs((first?.interruptLatencyMs ?? 0) - 200)).toBeLessThanOrEqual(20);
    expect(second).toMatchObject({ input: "words", interrupted: false, ttsTtfbMs: 0, ttsLeadingSilenceMs: 0 });
    expect(Math.abs((second?.turnGapMs ?? 0) - (answeredAt - spokeAt - 800))).toBeLessThanOrEqual(40);
    expect((second?.eouDelayMs ?? 0) + (second?.sttFinalMs ?? 0)).toBeGreaterThan(300);
    expect(second?.turnGapMs).toBeGreaterThanOrEqual((second?.eouDelayMs ?? 0) + (second?.sttFinalMs ?? 0));
    expect(third).toMatchObject({ input: "key", eouDelayMs: null, sttFinalMs: null, interruptLatencyMs: null });
    expect(third?.turnGapMs).toBeLessThanOrEqual(40);
    expect(laterTurns).toEqual([]);
    const { turnStages, interruptions } = await world.app.queries.figures();
    expect([turnStages.turnGapMs?.turns, interruptions]).toEqual([2, 1]);
    await world.stop();
  });

  test("continues after a sound without words", async () => {
    const question = "Will you come tomorrow, or rather on another day of this week?";
    const agent = puppet(async function* () {
      yield { type: "say", text: question, interruptible: true };
      yield { type: "listen", forMs: 60_000 };
    });
    const transcription = new MeasuringTranscription();
    const scene = await talkingScene(["x"], { agent, transcription });
    const { world, leg } = scene;
    transcription.understand = () => "";
    await world.system.advance(500);
    leg.say(voice(800, leg));
    await world.system.advance(8_000);
    expect(Math.abs(soundMs(scene, 0) - ms(question))).toBeLessThanOrEqual(60);
    expect(await lines(scene)).toEqual([`caller: ${question}`]);
    await world.stop();
  });

  test("continues after words that do not answer its script", async () => {
    const scene = await talkingScene(
      ["Ask: Will you come tomorrow at ten, yes or no?", "If yes: hang up", "If 1: hang up"],
      {
        transcription: new MeasuringTranscription(),
      },
    );
    const { world, leg } = scene;
    await world.system.advance(ms(INTRODUCTION) + 500);
    leg.say(voice(800, leg));
    await world.system.advance(6_000);
    const question = "Will you come tomorrow at ten, yes or no?";
    expect(Math.abs(soundMs(scene, 0) - ms(INTRODUCTION) - ms(question))).toBeLessThanOrEqual(60);
    await world.stop();
  });

  test("fails as agent_failed with its agent's reason", async () => {
    const agent = puppet(async function* () {
      yield { type: "say", text: "Hello", interruptible: true };
      throw new Error("the model is gone");
    });
    const { world, call } = await talkingScene(["x"], { agent });
    await world.system.advance(1_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "agent_failed", detail: "the model is gone" },
    });
    await world.stop();
  });

  test("ends as agent_failed with the engine's reason if its words cannot be spoken", async () => {
    const { world, call, leg } = await ringing(["Ask: Press 1.", "If 1: say: Good."]);
    world.speech.fault = new Error("the engine crashed");
    leg.answer();
    await world.system.advance(ms(INTRODUCTION) + ms("Press 1.") + 200);
    leg.press("1");
    await world.system.advance(500);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_failed",
      detail: "the engine crashed",
    });
    await world.stop();
  });

  test("stays on the call if the callee interrupts the goodbye", async () => {
    const agent = puppet(async function* (input) {
      if (input.type === "words") yield { type: "say", text: "Yes?", interruptible: true };
      else {
        yield { type: "say", text: "A rather long first sentence, and then a goodbye.", interruptible: true };
        await firstTurn;
        yield { type: "hang_up" };
      }
      yield { type: "listen", forMs: 60_000 };
    });
    let interrupt = (): void => {};
    const firstTurn = new Promise<void>((resolve) => {
      interrupt = resolve;
    });
    const scene = await talkingScene(["x"], { agent, transcription: new MeasuringTranscription() });
    const { world, call, leg } = scene;
    await world.system.advance(500);
    leg.say(voice(800, leg));
    await world.system.advance(1_500);
    interrupt();
    await world.system.advance(2_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    expect((await lines(scene)).at(-1)).toBe("caller: Yes?");
    await world.stop();
  });

  test("ends the agent's work with the call", async () => {
    let hasEnded = false;
    const agent = puppet(async function* (_, signal) {
      yield { type: "listen", forMs: 60_000 };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      hasEnded = true;
    });
    const { world, call } = await talkingScene(["x"], { agent });
    await world.app.calls.hangUp(ALICE, call.id);
    await world.system.settle();
    expect(hasEnded).toBe(true);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });
});

describe("an agent call that no agent can conduct ends FAILED/agent_unavailable before the dial", () => {
  const outcomeOf = async (world: World, instructions: readonly string[]) => {
    const call = await agentCall(world, instructions);
    const { status, outcome } = await world.storedCall(call);
    expect(world.network.legs).toEqual([]);
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    await world.stop();
    return [status, outcome?.reason, outcome?.detail];
  };

  test("without an agent", async () => {
    expect(await outcomeOf(await World.start(), SCRIPT)).toEqual([
      "FAILED",
      "agent_unavailable",
      "no AI agent is configured on this server",
    ]);
  });

  test("if the instructions are not a script", async () => {
    const world = await World.start({ agent: scriptedAgent() });
    const [status, reason, detail] = await outcomeOf(world, ["Greet the callee."]);
    expect([status, reason]).toEqual(["FAILED", "agent_unavailable"]);
    expect(detail).toContain('instruction 1 ("Greet the callee.") is not part of a script');
  });

  test("if only words answer a question, and the transcription has a fault", async () => {
    const start = () => {
      const transcription = new MeasuringTranscription();
      const check = async () => {
        throw new TranscriptionFailed("there is no recogniser; install one");
      };
      return World.start({ agent: scriptedAgent(), transcription: Object.assign(transcription, { check }) });
    };
    expect((await outcomeOf(await start(), ["Ask visit: Are you in?", "If yes: say: Good."])).slice(1)).toEqual([
      "agent_unavailable",
      "the agent needs transcription: there is no recogniser; install one",
    ]);
    const world = await start();
    const call = await agentCall(world, SCRIPT);
    expect(await world.eventTypes(call)).not.toContain("failed");
    await world.stop();
  });

  test("if no voice can speak", async () => {
    const world = await World.start({ agent: scriptedAgent() });
    world.speech.voices = async () => [];
    expect((await outcomeOf(world, SCRIPT)).slice(1)).toEqual([
      "agent_unavailable",
      "an agent needs a voice, and no speech engine is installed here",
    ]);
  });
});

test("an agent's voice is checked at creation", async () => {
  const world = await World.start({ agent: scriptedAgent() });
  const faultyCall = agentCall(world, SCRIPT, { voiceId: "pt-BR-1" });
  await expect(faultyCall).rejects.toMatchObject({
    errors: [{ pointer: "/agent/voiceId", code: "voice_unavailable" }],
  });
  const call = await agentCall(world, SCRIPT, { voiceId: "en-US-1" });
  expect((await world.storedCall(call)).message).toEqual({
    type: "DYNAMIC_AGENT",
    instructions: SCRIPT,
    voiceId: "en-US-1",
  });
  await world.stop();
});

test("an agent's language determines its voice, and is checked at creation", async () => {
  const world = await World.start({ agent: scriptedAgent() });
  const faultyCall = agentCall(world, SCRIPT, { language: "fi" });
  await expect(faultyCall).rejects.toMatchObject({
    errors: [{ pointer: "/agent/language", code: "voice_unavailable", detail: expect.stringContaining("fi") }],
  });
  const call = await agentCall(world, SCRIPT, { language: "en" });
  expect((await world.storedCall(call)).status).not.toBe("FAILED");
  await world.stop();
});

test("a strict request for a call that no agent can conduct is refused", async () => {
  const world = await World.start({ agent: scriptedAgent() });
  const { id: instanceId } = await world.activeInstance();
  const create = (instructions: readonly string[]) =>
    world.app.calls.create(
      ALICE,
      {
        instanceId,
        type: "DYNAMIC_AGENT",
        target: { phoneNumber: NUMBER },
        agent: { instructions: [...instructions] },
      },
      { strict: true },
    );
  await expect(create(["Greet the callee."])).rejects.toMatchObject({
    code: "agent_unavailable",
    errors: [{ pointer: "/agent", detail: expect.stringContaining("is not part of a script") }],
  });
  expect((await create(SCRIPT)).created).toBe(true);
  await world.stop();
});
