import { describe, expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { Agent, ConversationInput } from "../../../src/ports/conversation.ts";
import { lines, ms, puppet, type Scene, soundMs, talkingScene, voice } from "../../support/agent-calls.ts";
import { noise as rumble, samplesOf, withRms } from "../../support/answers/sounds.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";
import { random } from "../../support/random.ts";

const QUESTION = "Will you come tomorrow, or rather on another day of this week?";

/** An agent that asks, thinks, and repeats its input. */
class EchoAgent {
  readonly inputs: ConversationInput[] = [];
  readonly agent: Agent;
  scene: Scene | undefined;

  constructor(thinkingMs: number) {
    const { inputs } = this;
    const think = (signal: AbortSignal) => this.#think(thinkingMs, signal);
    this.agent = puppet(async function* (input, signal) {
      inputs.push(input);
      if (input.type === "begin") yield { type: "say", text: QUESTION, interruptible: true };
      else if (input.type === "words") {
        if (thinkingMs > 0) await think(signal);
        yield { type: "say", text: `So ${input.text}.`, interruptible: true };
      }
      yield { type: "listen", forMs: 60_000 };
    });
  }

  #think(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.scene!.world.system.after(durationMs, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        reject(signal.reason);
      });
    });
  }
}

interface QuestionScene {
  readonly scene: Scene;
  readonly inputs: readonly ConversationInput[];
  readonly transcription: MeasuringTranscription;
}

/** A call whose question has been heard, or the first `heardMs` of it. */
async function askQuestion(
  texts: readonly string[],
  options: { thinkingMs?: number; heardMs?: number; partial?: boolean; endOfTurn?: boolean } = {},
): Promise<QuestionScene> {
  const { partial = false, endOfTurn = false, thinkingMs = 0 } = options;
  const echo = new EchoAgent(thinkingMs);
  const transcription = new MeasuringTranscription({ partial, endOfTurn });
  const remainingTexts = [...texts];
  transcription.understand = () => remainingTexts.shift() ?? "";
  const scene = await talkingScene(["x"], { agent: echo.agent, transcription });
  echo.scene = scene;
  await scene.world.system.advance(options.heardMs ?? ms(QUESTION) + 200);
  return { scene, inputs: echo.inputs, transcription };
}

const laterInputs = (inputs: readonly ConversationInput[]) => inputs.filter(({ type }) => type !== "begin");
const nowMs = ({ leg }: Scene): number => (leg.heard.length * 1_000) / leg.sampleRate;

describe("the end of the callee's turn", () => {
  test("follows complete words after 0.5 s", async () => {
    const { scene, inputs } = await askQuestion(["I come tomorrow."]);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(1_200);
    expect(laterInputs(inputs)).toEqual([]);
    await scene.world.system.advance(300);
    expect(laterInputs(inputs)).toEqual([{ type: "words", text: "I come tomorrow." }]);
    await scene.world.stop();
  });

  test("waits for the rest of incomplete words", async () => {
    const { scene, inputs } = await askQuestion(["My number is", "five five two."]);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(3_000);
    expect(laterInputs(inputs)).toEqual([]);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(1_500);
    expect(laterInputs(inputs)).toEqual([{ type: "words", text: "My number is five five two." }]);
    await scene.world.stop();
  });

  test("follows incomplete words after 3 s", async () => {
    const { scene, inputs } = await askQuestion(["My number is"]);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(3_700);
    expect(laterInputs(inputs)).toEqual([]);
    await scene.world.system.advance(300);
    expect(laterInputs(inputs)).toEqual([{ type: "words", text: "My number is" }]);
    await scene.world.stop();
  });

  test("is decided by partial texts, if any", async () => {
    const { scene, transcription } = await askQuestion([], { partial: true });
    const [session] = transcription.sessions;
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(600);
    session!.emit({ type: "partial", text: "I would like to come and" });
    await scene.world.system.advance(1_400);
    expect(session!.turns).toEqual([]);
    await scene.world.system.advance(500);
    expect(session!.turns).toHaveLength(1);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(1_500);
    expect(session!.turns).toHaveLength(2);
    await scene.world.stop();
  });

  test("also waits if the engine decides it", async () => {
    const { scene, inputs, transcription } = await askQuestion([], { endOfTurn: true });
    const [session] = transcription.sessions;
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(1_100);
    session!.emit({ type: "final", text: "I can come, but" });
    await scene.world.system.advance(300);
    expect(laterInputs(inputs)).toEqual([]);
    scene.leg.say(voice(800, scene.leg));
    await scene.world.system.advance(1_000);
    session!.emit({ type: "final", text: "not today." });
    await scene.world.system.advance(100);
    expect(laterInputs(inputs)).toEqual([{ type: "words", text: "I can come, but not today." }]);
    await scene.world.stop();
  });
});

describe("a callee who continues before the agent is heard", () => {
  test("has one turn, and is not spoken over", async () => {
    const { scene, inputs } = await askQuestion(["I come tomorrow.", "Or no, on Monday."], { thinkingMs: 1_000 });
    const { world, leg } = scene;
    const spokeAt = nowMs(scene);
    leg.say(voice(800, leg));
    await world.system.advance(1_700); // the agent thinks
    leg.say(voice(800, leg));
    await world.system.advance(1_200);
    expect(soundMs(scene, spokeAt)).toBe(0);
    await world.system.advance(3_500);
    const text = "I come tomorrow. Or no, on Monday.";
    expect(laterInputs(inputs)).toEqual([
      { type: "words", text: "I come tomorrow." },
      { type: "words", text, continued: true },
    ]);
    expect(Math.abs(soundMs(scene, spokeAt) - ms(`So ${text}.`))).toBeLessThanOrEqual(40);
    expect((await lines(scene)).at(-1)).toBe(`caller: So ${text}.`);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    expect((await world.storedCall(scene.call)).turns?.map(({ input }) => input)).toEqual(["begin", "words"]);
    await world.stop();
  });

  test("hears the reply a little later after making only a sound", async () => {
    const { scene } = await askQuestion(["I come tomorrow.", ""], { thinkingMs: 500 });
    const { world, leg } = scene;
    const spokeAt = nowMs(scene);
    leg.say(voice(800, leg));
    await world.system.advance(1_700);
    leg.say(voice(100, leg));
    await world.system.advance(4_000);
    expect(Math.abs(soundMs(scene, spokeAt) - ms("So I come tomorrow.."))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("starts another turn once the agent has been heard", async () => {
    const { scene, inputs } = await askQuestion(["I come tomorrow.", "On Monday."]);
    const { world, leg } = scene;
    leg.say(voice(800, leg));
    await world.system.advance(1_700);
    leg.say(voice(800, leg));
    await world.system.advance(1_700);
    expect(laterInputs(inputs)).toEqual([
      { type: "words", text: "I come tomorrow." },
      { type: "words", text: "On Monday." },
    ]);
    await world.stop();
  });
});

/** White noise, reproducible. */
function noise(lengthMs: number, rms: number, sampleRate: number): Int16Array {
  let state = 1;
  const samples = new Int16Array((lengthMs * sampleRate) / 1_000);
  for (let at = 0; at < samples.length; at++) {
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      sum += state / 2 ** 31;
    }
    samples[at] = Math.round((sum * rms) / Math.sqrt(4 / 3));
  }
  return samples;
}

describe("the agent is not interrupted by", () => {
  /** Sends sounds 500 ms into the question, and expects it to be heard in full, without a pause. */
  async function expectUndisturbed(send: (scene: Scene) => void, texts: readonly string[] = []): Promise<void> {
    const { scene, inputs } = await askQuestion(texts, { heardMs: 500 });
    send(scene);
    await scene.world.system.advance(ms(QUESTION) - 500 + 40);
    expect(Math.abs(soundMs(scene, 0) - ms(QUESTION))).toBeLessThanOrEqual(40);
    expect(laterInputs(inputs)).toEqual([]);
    await scene.world.stop();
  }

  test("a sign of listening", () => expectUndisturbed(({ leg }) => leg.say(voice(160, leg)), ["Uhum."]));

  test.for([100, 500, 2_000, 8_000])("a knock of 100 ms, rms %s", (rms) =>
    expectUndisturbed(({ leg }) => leg.say(noise(100, rms, leg.sampleRate))),
  );

  test.for([2_000, 8_000])("typing, rms %s", (rms) =>
    expectUndisturbed(({ leg }) => {
      for (let key = 0; key < 10; key++) {
        leg.say(noise(20, rms, leg.sampleRate));
        leg.say(new Int16Array(leg.sampleRate / 10));
      }
    }),
  );

  test.for(["car", "pink"] as const)("sudden %s noise of a second", (kind) =>
    expectUndisturbed(({ leg }) => {
      for (const seed of [1, 2, 3]) {
        leg.say(samplesOf(withRms(rumble(kind, 1_000, leg.sampleRate, random(seed)), 3_000)));
        leg.say(new Int16Array(leg.sampleRate));
      }
    }),
  );

  test("a tone", () => expectUndisturbed(({ leg }) => leg.say(tone(800, 1_000, leg.sampleRate, 8_000))));

  test.for([50, 200, 1_000, 4_000])("constant noise from the beginning, rms %s", async (rms) => {
    const { scene, inputs } = await askQuestion([], { heardMs: 0 });
    const { world, leg } = scene;
    leg.say(noise(ms(QUESTION) + 2_000, rms, leg.sampleRate));
    await world.system.advance(ms(QUESTION) + 40);
    expect(Math.abs(soundMs(scene, 0) - ms(QUESTION))).toBeLessThanOrEqual(40);
    expect(laterInputs(inputs)).toEqual([]);
    await world.stop();
  });

  test("a key tone, which is a key and not speech", async () => {
    const { scene, inputs } = await askQuestion([], { heardMs: 500 });
    const { world, leg } = scene;
    leg.say(
      tone(697, 300, leg.sampleRate, 6_000).map((sample, at) => sample + tone(1_209, 300, leg.sampleRate, 6_000)[at]!),
    );
    await world.system.advance(2_000);
    expect(inputs.filter(({ type }) => type === "words")).toEqual([]);
    await world.stop();
  });
});

test.for([1_000, 4_000])("the agent continues through noise that starts during its words, rms %s", async (rms) => {
  const { scene, inputs } = await askQuestion([""], { heardMs: 500 });
  const { world, leg } = scene;
  leg.say(noise(20_000, rms, leg.sampleRate));
  await world.system.advance(ms(QUESTION) + 5_000);
  expect(Math.abs(soundMs(scene, 0) - ms(QUESTION))).toBeLessThanOrEqual(60);
  expect(laterInputs(inputs)).toEqual([]);
  await world.stop();
});
