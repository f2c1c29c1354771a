import { describe, expect, test } from "vitest";
import { Voices } from "../../adapters/telephony/simulator/voice.ts";
import { whatsapp } from "../../adapters/telephony/whatsapp/index.ts";
import { concatPcm } from "../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../src/audio/tones/dtmf.ts";
import { type ContractSubject, FakeWhatsApp, telephonyContract } from "../../src/testing/index.ts";

const RATE = 16_000;
const numbers = {
  answers: "+12025550100",
  busy: "+12025550101",
  rings: "+12025550102",
  declines: "+12025550103",
  hangsUp: "+12025550104",
  speaks: "+12025550106",
  presses: { number: "+12025550107", keys: "1234#" },
  unknown: "+12025550108",
};
const speech = await new Voices(undefined, () => {}).speak("Hello, this is a callee who speaks for a while.", RATE);
const silence = new Int16Array(RATE);
const keys = concatPcm([silence, dtmfTones(numbers.presses.keys, { sampleRate: RATE })]);
const answer = { does: "answer", afterMs: 100 } as const;

async function subject(refuses?: number): Promise<ContractSubject> {
  const network = new FakeWhatsApp();
  network.number(numbers.answers, { devices: [answer] });
  network.number(numbers.busy, { devices: [1, 2].map((n) => ({ does: "busy", afterMs: 50 * n })) });
  network.number(numbers.rings, { devices: [{ does: "nothing" }] });
  network.number(numbers.declines, { devices: [{ does: "decline", afterMs: 100 }] });
  network.number(numbers.hangsUp, { devices: [answer], hangsUpAfterMs: 800 });
  network.number(numbers.speaks, { devices: [answer], speaks: concatPcm([silence, speech]) });
  network.number(numbers.presses.number, { devices: [answer], speaks: keys });
  network.number(numbers.unknown, { exists: false });
  let phones = 0;
  return {
    telephony: whatsapp({ client: network.client }),
    async scan(payload) {
      network.scan(payload, `+1415555${String(++phones).padStart(4, "0")}`);
      network.refuses = refuses;
    },
    heard: async () => network.call().heard,
    async close() {},
  };
}

telephonyContract(
  "WhatsApp",
  {
    numbers,
    patienceMs: 3_000,
    create: () => subject(),
    broken: () => subject(409),
    confirmation: { skip: "WhatsApp itself confirms the link on the phone" },
    transfer: { skip: "WhatsApp cannot transfer calls" },
  },
  { describe, test, expect },
);
