import { describe, expect, test } from "vitest";
import { phrasesIn } from "../../../adapters/agent/agent-phrases.ts";
import type { Chat } from "../../../adapters/agent/cascade/chat-client.ts";
import { ChatConversation } from "../../../adapters/agent/cascade/chat-conversation.ts";
import type { AgentTool } from "../../../src/ports/agent-tool.ts";
import type { Agent, ConversationAction, ConversationInput } from "../../../src/ports/conversation.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { lines, ms, puppet, type Scene, soundMs, talkingScene, voice } from "../../support/agent-calls.ts";
import { ToneSpeech } from "../../support/application.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";

const { apology, sayAgain: repeatRequest, timeIsUp } = phrasesIn("en");
const GREETING = "Hello, when does it suit you?";

/** The cascade without a server: a model that replies with one sentence. */
function modelAgent(text = GREETING): Agent {
  const chat: Chat = async function* () {
    yield { type: "text", text };
  };
  return {
    name: "cascade",
    check() {},
    begin: (brief) => new ChatConversation(chat, brief, phrasesIn("en"), { turns: 100, tokens: 100_000 }),
    async close() {},
  };
}

const outcomeOf = async ({ world, call }: Scene) => (await world.storedCall(call)).outcome;
const nowMs = ({ leg }: Scene): number => (leg.heard.length * 1_000) / leg.sampleRate;

describe("a transcription that fails permanently", () => {
  const failPermanently = (transcription: MeasuringTranscription) =>
    transcription.sessions[0]!.emit({ type: "error", error: new Error("the key was revoked"), recoverable: false });

  test("ends a language model's call after an apology", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await talkingScene(["x"], { agent: modelAgent(), transcription });
    await scene.world.system.advance(ms(GREETING) + 500);
    const failedAt = nowMs(scene);
    failPermanently(transcription);
    await scene.world.system.advance(ms(apology) + 1_500);
    expect(Math.abs(soundMs(scene, failedAt) - ms(apology))).toBeLessThanOrEqual(40);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: "the key was revoked" });
    await scene.world.stop();
  });

  test("ends the call even if it cannot start", async () => {
    const transcription = new MeasuringTranscription();
    transcription.fault = new Error("no such model");
    const scene = await talkingScene(["x"], { agent: modelAgent(), transcription });
    await scene.world.system.advance(ms(GREETING) + ms(apology) + 1_500);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: "no such model" });
    await scene.world.stop();
  });

  test("does not end a script, which still accepts keys", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await talkingScene(["Ask visit: Press 1 for yes.", "If 1 or yes: say: Good."], { transcription });
    await scene.world.system.advance(4_000);
    failPermanently(transcription);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(3_000);
    scene.leg.press("1");
    await scene.world.system.advance(1_500);
    expect(await scene.world.storedCall(scene.call)).toMatchObject({
      result: { visit: "1" },
      outcome: { reason: "agent_finished" },
    });
    await scene.world.stop();
  });
});

describe("words that are lost", () => {
  test("are requested once more; then the call ends after an apology", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await talkingScene(["x"], { agent: modelAgent(), transcription });
    const { world, leg } = scene;
    await world.system.advance(ms(GREETING) + 500);
    transcription.answering = new Promise(() => {});
    const session = transcription.sessions[0]!;
    const loseWords = async (): Promise<number> => {
      leg.say(voice(800, leg));
      await world.system.advance(1_500);
      const lostAt = nowMs(scene);
      session.emit({ type: "error", error: new Error("it answered 500"), recoverable: true });
      return lostAt;
    };
    const first = await loseWords();
    await world.system.advance(ms(repeatRequest) + 500);
    expect(Math.abs(soundMs(scene, first) - ms(repeatRequest))).toBeLessThanOrEqual(40);
    const second = await loseWords();
    await world.system.advance(ms(apology) + 1_500);
    expect(Math.abs(soundMs(scene, second) - ms(apology))).toBeLessThanOrEqual(40);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: "it answered 500" });
    await world.stop();
  });

  test("leave no silence: the agent speaks after 10 s", async () => {
    const transcription = new MeasuringTranscription();
    const scene = await talkingScene(["x"], { agent: modelAgent(), transcription });
    const { world, leg } = scene;
    await world.system.advance(ms(GREETING) + 500);
    transcription.answering = new Promise(() => {});
    for (const [expected, extraMs] of [
      [repeatRequest, 0],
      [apology, 1_000],
    ] as const) {
      leg.say(voice(800, leg));
      await world.system.advance(11_000);
      const startedAt = nowMs(scene);
      expect(soundMs(scene, startedAt - 9_000)).toBe(0);
      await world.system.advance(ms(expected) + 1_000 + extraMs);
      expect(Math.abs(soundMs(scene, startedAt) - ms(expected))).toBeLessThanOrEqual(40);
    }
    expect((await outcomeOf(scene))?.detail).toBe("the transcription engine sent nothing for 10000 ms");
    await world.stop();
  });
});

/** Fails in the middle of one of its texts. */
class BrokenSpeech extends ToneSpeech {
  readonly spokenTexts: string[] = [];
  override async *speak(text: string, voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    this.spokenTexts.push(text);
    for await (const chunk of super.speak(text, voiceId, signal)) {
      if (text !== GREETING) yield chunk;
      else yield { ...chunk, samples: chunk.samples.subarray(0, chunk.samples.length / 2) };
    }
    if (text === GREETING) throw new Error("the engine crashed");
  }
}

describe("a speech engine", () => {
  test("is followed by an apology if it fails midway and can still speak", async () => {
    const scene = await talkingScene(["x"], {
      agent: modelAgent(),
      transcription: new MeasuringTranscription(),
      speech: () => new BrokenSpeech(),
    });
    await scene.world.system.advance(ms(GREETING) / 2 + ms(apology) + 1_500);
    expect(Math.abs(soundMs(scene, 0) - ms(GREETING) / 2 - ms(apology))).toBeLessThanOrEqual(60);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: "the engine crashed" });
    const [first, second] = await lines(scene);
    expect(first).toMatch(/^caller: Hello/);
    expect(first).not.toContain("you?");
    expect(second).toBe(`caller: ${apology}`);
    await scene.world.stop();
  });

  test("is asked once more after 10 s of silence, then the call ends", async () => {
    const scene = await talkingScene(["x"], { agent: modelAgent("Yes."), transcription: new MeasuringTranscription() });
    const { world, leg } = scene;
    await world.system.advance(1_000);
    world.speech.isSilent = true;
    leg.say(voice(800, leg));
    await world.system.advance(20_000);
    expect((await world.storedCall(scene.call)).status).toBe("IN_PROGRESS");
    await world.system.advance(25_000);
    expect(await outcomeOf(scene)).toMatchObject({
      reason: "agent_failed",
      detail: "the speech engine sent nothing for 10000 ms",
    });
    await world.stop();
  });
});

describe("an agent whose reply hangs", () => {
  const neverSettles = new Promise<never>(() => {});
  const say = (text: string): ConversationAction => ({ type: "say", text, interruptible: true });
  const listen: ConversationAction = { type: "listen", forMs: 60_000 };
  const NO_REPLY = "the agent puppet sent nothing for 10000 ms";

  test("is asked again, then the call ends after an apology", async () => {
    const inputs: ConversationInput[] = [];
    const signals: AbortSignal[] = [];
    const agent = puppet(async function* (input, signal) {
      if (input.type !== "begin") {
        inputs.push(input);
        signals.push(signal);
        await neverSettles;
      }
      yield say(GREETING);
      yield listen;
    });
    const scene = await talkingScene(["x"], { agent });
    const { world, leg } = scene;
    await world.system.advance(ms(GREETING) + 500);
    leg.press("1");
    await world.system.advance(19_500);
    expect(inputs).toEqual([
      { type: "key", digit: "1" },
      { type: "key", digit: "1" },
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    const startedAt = nowMs(scene);
    await world.system.advance(ms(apology) + 2_000);
    expect(Math.abs(soundMs(scene, startedAt) - ms(apology))).toBeLessThanOrEqual(40);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: NO_REPLY });
    expect((await lines(scene)).at(-1)).toBe(`caller: ${apology}`);
    await world.stop();
  });

  test("continues if the second reply succeeds", async () => {
    let keys = 0;
    const agent = puppet(async function* ({ type }) {
      if (type === "key" && ++keys === 1) await neverSettles;
      yield say(type === "key" ? "I see." : GREETING);
      yield listen;
    });
    const scene = await talkingScene(["x"], { agent });
    await scene.world.system.advance(ms(GREETING) + 500);
    scene.leg.press("1");
    await scene.world.system.advance(10_000 + ms("I see.") + 1_000);
    expect(await lines(scene)).toEqual([`caller: ${GREETING}`, "caller: I see."]);
    await scene.world.stop();
  });

  test("is not asked again once it has spoken or used a tool", async () => {
    let replies = 0;
    const agent = puppet(async function* () {
      replies++;
      yield say("Well.");
      await neverSettles;
    });
    const speechScene = await talkingScene(["x"], { agent });
    await speechScene.world.system.advance(ms("Well.") + 10_000 + ms(apology) + 2_000);
    expect([replies, (await outcomeOf(speechScene))?.detail]).toEqual([1, NO_REPLY]);
    await speechScene.world.stop();

    let uses = 0;
    const book: AgentTool = { name: "book", description: "Books.", parameters: {}, run: async () => ++uses };
    const toolUser: Agent = {
      ...agent,
      begin: ({ tools }) => ({
        async *reply() {
          await tools?.[0]?.run("{}");
          await neverSettles;
          yield listen;
        },
      }),
    };
    const toolScene = await talkingScene(["x"], { agent: toolUser, agentTools: [book] });
    await toolScene.world.system.advance(10_000 + ms(apology) + 2_000);
    expect([uses, (await outcomeOf(toolScene))?.detail]).toEqual([1, NO_REPLY]);
    await toolScene.world.stop();
  });

  test("may wait for a tool, up to the tool's time limit", async () => {
    let finish = (_: string) => {};
    const slowTool: AgentTool = {
      ...{ name: "slow", description: "Waits.", parameters: {}, timeoutMs: 60_000 },
      run: () => new Promise((resolve) => (finish = resolve)),
    };
    const agent: Agent = {
      ...puppet(async function* () {}),
      begin: ({ tools }) => ({
        replyTimeoutMs: 40_000,
        async *reply({ type }) {
          if (type === "begin") yield say((await tools?.[0]?.run("{}")) ?? "");
          else await neverSettles;
          yield listen;
        },
      }),
    };
    const scene = await talkingScene(["x"], { agent, agentTools: [slowTool] });
    await scene.world.system.advance(55_000);
    finish("It is done.");
    await scene.world.system.advance(3_000);
    expect(await lines(scene)).toEqual(['caller: "It is done."']);
    scene.leg.press("1");
    await scene.world.system.advance(79_000);
    expect((await scene.world.storedCall(scene.call)).status).toBe("IN_PROGRESS");
    await scene.world.system.advance(1_000 + ms(apology) + 2_000);
    expect((await outcomeOf(scene))?.detail).toBe("the agent puppet sent nothing for 40000 ms");
    await scene.world.stop();
  });

  test("is abandoned after 20 s, even if the callee keeps interrupting", async () => {
    const agent = puppet(async function* ({ type }) {
      if (type !== "begin") await neverSettles;
      yield say(GREETING);
      yield listen;
    });
    const scene = await talkingScene(["x"], { agent });
    await scene.world.system.advance(ms(GREETING) + 500);
    for (let second = 0; second < 20; second += 4) {
      scene.leg.press("1");
      await scene.world.system.advance(4_000);
    }
    await scene.world.system.advance(ms(apology) + 2_000);
    expect(await outcomeOf(scene)).toMatchObject({ reason: "agent_failed", detail: NO_REPLY });
    await scene.world.stop();
  });
});

test("a call that reaches its maximum duration ends after a goodbye", async () => {
  const scene = await talkingScene(["x"], {
    agent: modelAgent(),
    transcription: new MeasuringTranscription(),
    timings: { maxDurationMs: 30_000 },
  });
  await scene.world.system.advance(19_900);
  const before = nowMs(scene);
  await scene.world.system.advance(9_000);
  expect(Math.abs(soundMs(scene, before) - ms(timeIsUp))).toBeLessThanOrEqual(40);
  expect(await outcomeOf(scene)).toMatchObject({ reason: "max_duration" });
  expect((await scene.world.storedCall(scene.call)).status).toBe("COMPLETED");
  await scene.world.stop();
});

describe("a prepared reply", () => {
  const THINKING_MS = 400;

  /** A call whose callee's words arrive as partial texts; returns the requests and the latencies. */
  async function conversation(partialText: string, finalText: string, isPreemptive: boolean) {
    const texts: string[] = [];
    let scene: Scene | undefined;
    const chat: Chat = async function* ({ messages }, signal) {
      const { content } = messages.at(-1)!;
      texts.push(content ?? "");
      if (texts.length > 1) await new Promise<void>((resolve) => scene?.world.system.after(THINKING_MS, resolve));
      signal.throwIfAborted();
      yield { type: "text", text: "I see." };
      if (texts.length > 1)
        yield {
          type: "tool",
          call: { id: "1", type: "function", function: { name: "send_dtmf", arguments: '{"keys":"5"}' } },
        };
    };
    const agent: Agent = {
      ...modelAgent(),
      begin: (brief) =>
        new ChatConversation(chat, brief, phrasesIn("en"), { turns: 9, tokens: 9_000, preemptive: isPreemptive }),
    };
    const transcription = new MeasuringTranscription({ partial: true });
    transcription.understand = () => finalText;
    scene = await talkingScene(["x"], { agent, transcription });
    const { world, leg, call } = scene;
    await world.system.advance(1_000);
    leg.say(voice(800, leg));
    await world.system.advance(700);
    transcription.sessions[0]!.emit({ type: "partial", text: partialText });
    await world.system.advance(500);
    const firstTexts = [...texts];
    expect(soundMs(scene, 1_000)).toBe(0);
    await world.system.advance(2_000);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    const turns = (await world.storedCall(call)).turns ?? [];
    await world.stop();
    return {
      requests: texts,
      earlyRequests: firstTexts,
      gapMs: turns.find(({ input }) => input === "words")?.turnGapMs ?? 0,
    };
  }

  test("saves the model's thinking time at the end of the turn", async () => {
    const unpreparedTurn = await conversation("I come tomorrow", "I come tomorrow.", false);
    const preparedTurn = await conversation("I come tomorrow", "I come tomorrow.", true);
    expect(preparedTurn.earlyRequests.at(-1)).toBe("I come tomorrow");
    expect(unpreparedTurn.gapMs - preparedTurn.gapMs).toBeGreaterThanOrEqual(250);
    expect(unpreparedTurn.gapMs - preparedTurn.gapMs).toBeLessThanOrEqual(THINKING_MS);
  });

  test("is dropped if the callee speaks again", async () => {
    const { requests, gapMs } = await conversation("I come tomorrow", "I come tomorrow evening.", true);
    expect(requests.slice(1, 3)).toEqual(["I come tomorrow", "I come tomorrow evening."]);
    expect(gapMs).toBeGreaterThanOrEqual(450 + THINKING_MS);
  });
});
