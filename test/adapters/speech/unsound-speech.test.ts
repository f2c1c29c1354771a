import { createRingport } from "ringport";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { concatBytes } from "../../../src/base/concat-bytes.ts";
import { random } from "../../support/random.ts";
import { type SpeechFault, type SpeechServer, speechServer } from "../../support/speech-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { vbrMp3 } from "../../support/tone-files.ts";

const ME = { userId: "usr_me" };
let server: SpeechServer;
let ringport: ReturnType<typeof createRingport>;
let instanceId: string;

/** The speech server sends one fixed response; each test sets its own. */
beforeAll(async () => {
  server = await speechServer();
  ringport = createRingport({
    data: temporaryFolder("unsound-speech"),
    publicUrl: "http://ringport.test",
    embedded: {
      simulatorTimeScale: 0.05,
      synchronous: "NORMAL",
      httpSpeech: { baseUrl: server.baseUrl, model: "m", voices: { "pt-BR-1": { voice: "v" } } },
    },
  });
  ({ id: instanceId } = await ringport.instances.create(ME, { name: "Desk" }));
  const { payload } = await ringport.instances.configure(ME, instanceId);
  await ringport.fetch(new Request(payload, { method: "POST" }));
});
afterAll(async () => {
  await ringport.stop({ drainMs: 0 });
  await server.close();
});
let textNumber = 0;
beforeEach(() => void textNumber++);
afterEach(() => expect(server.openCount).toBe(0));

/** Places a call whose text gets this response; each text is different, since speech is cached. */
async function placeCall(fault: SpeechFault) {
  server.fail(fault);
  const target = { phoneNumber: "+12025550100" };
  const tts = { text: `Bom dia, consulta ${textNumber}.`, voiceId: "pt-BR-1" };
  const { id } = await ringport.calls.create(ME, { instanceId, type: "FIXED_TTS", target, tts });
  const { outcome } = await ringport.calls.wait(ME, id);
  const types: string[] = [];
  for await (const { type } of ringport.calls.events(ME, id)) types.push(type);
  return { outcome, types };
}

const random16k = (): Uint8Array => {
  const next = random(9);
  return Uint8Array.from({ length: 48_000 }, () => 256 * next());
};

describe("a call fails before the phone rings if its speech server sends", () => {
  test.for([
    ["a JSON error as samples", "audio/pcm", '{"error":"model not loaded"}', /text \(JSON\).*model not loaded/],
    ["a page as WAV", "audio/wav", `<!doctype html>${"<p>Sign in</p>".repeat(200)}`, /text \(HTML or XML\)/],
    ["a short text", "audio/pcm", "Not Found", /text, which begins with "Not Found"/],
    ["Ogg as samples", "audio/pcm", concatBytes([new TextEncoder().encode("OggS"), random16k()]), /Ogg/],
    ["FLAC as MP3", "audio/mpeg", concatBytes([new TextEncoder().encode("fLaC"), random16k()]), /FLAC/],
    ["JSON after a WAV header", "audio/wav", concatBytes([wavHeader({ sampleRate: 8_000 }), json()]), /text \(JSON\)/],
    [
      "MP3 after a WAV header",
      "audio/wav",
      concatBytes([wavHeader({ sampleRate: 8_000 }), vbrMp3]),
      /MP3 among samples/,
    ],
    ["noise after a WAV header", "audio/wav", concatBytes([wavHeader({ sampleRate: 8_000 }), random16k()]), /noise/],
    ["noise", "audio/pcm", random16k(), /it sent noise/],
    ["silence", "audio/pcm", new Uint8Array(96_000), /as silence/],
    [
      "silence as WAV",
      "audio/wav",
      concatBytes([wavHeader({ sampleRate: 8_000 }), new Uint8Array(96_000)]),
      /as silence/,
    ],
    ["nothing", "audio/pcm", "", /found nothing in the text/],
    ["a header and nothing else", "audio/wav", wavHeader({ sampleRate: 8_000 }), /found nothing in the text/],
    ["a WAV of an unknown encoding", "audio/wav", gsm(), /GSM/],
  ] as const)("%s", async ([, type, body, detail]) => {
    const { outcome, types } = await placeCall({ status: 200, headers: { "content-type": type }, body });
    expect(outcome).toMatchObject({ reason: "speech_failed", heardMs: 0 });
    expect(outcome?.detail).toMatch(detail);
    expect(types).not.toContain("ringing");
  });
});

describe("a call is heard in full if its speech server sends", () => {
  const sound = pcmToBytes(tone(500, 3_000, 24_000, 8_000));
  const header = (claim: number): Uint8Array => {
    const bytes = wavHeader({ sampleRate: 24_000 });
    new DataView(bytes.buffer).setUint32(40, claim, true);
    return bytes;
  };

  test.for([
    ["WAV with a placeholder for its length", "audio/wav", concatBytes([header(0x7fff_ffff), sound])],
    ["WAV with 2,000,000,000 for its length", "audio/wav", concatBytes([header(2_000_000_000), sound])],
    ["WAV that claims more than was sent", "audio/wav", concatBytes([header(sound.length + 9_000), sound])],
    ["WAV that claims half of what was sent", "audio/wav", concatBytes([header(sound.length / 2), sound])],
    ["a header before each second", "audio/wav", wavPerSecond()],
    ["MP3 as samples", "audio/pcm", vbrMp3],
  ] as const)("%s", async ([, type, body]) => {
    const { outcome, types } = await placeCall({ status: 200, headers: { "content-type": type }, body });
    expect(outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    expect(outcome?.heardMs).toBeGreaterThan(2_900);
    expect(outcome?.heardMs).toBeLessThan(3_100);
    expect(types).toContain("ringing");
    expect(types.filter((eventType) => eventType.startsWith("audio_") || eventType.startsWith("text_"))).toEqual([]);
  });

  function wavPerSecond(): Uint8Array {
    const second = sound.subarray(0, 48_000);
    return concatBytes([0, 1, 2].flatMap(() => [header(second.length), second]));
  }
});

function json(): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ error: "overloaded ".repeat(50) }));
}

/** A WAV file in GSM 6.10. */
function gsm(): Uint8Array {
  const bytes = concatBytes([wavHeader({ sampleRate: 8_000 }), random16k()]);
  new DataView(bytes.buffer).setUint16(20, 49, true);
  return bytes;
}
