import { describe, expect, test } from "vitest";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { telephonyContract } from "../../../../src/testing/telephony-contract.ts";
import { callees, startFarEnd } from "../../../support/sip/far-end.ts";

const numbers = {
  answers: "+12025550100",
  busy: "+12025550101",
  rings: "+12025550102",
  declines: "+12025550103",
  hangsUp: "+12025550104",
  unknown: "+12025550108",
  speaks: "+12025550106",
  presses: { number: "+12025550107", keys: "1234#" },
};

/** Samples that are alternately loud and soft, like speech. */
function babble(): Int16Array {
  const samples = new Int16Array(8_000 * 5);
  for (let offset = 0; offset < samples.length; offset += 4_000)
    for (const hz of [180, 700, 1_900])
      for (const [i, sample] of tone(hz, 300, 8_000, 4_000).entries()) samples[offset + i]! += sample;
  return samples;
}

for (const [subject, codec, media, hasRefusingTrunk] of [
  ["a SIP trunk", "PCMU", "thread", false],
  ["a SIP trunk", "PCMA", "worker", false],
  ["a SIP route whose first trunk refuses every call,", "PCMU", "thread", true],
] as const)
  telephonyContract(
    `${subject} with ${codec}, its audio in a ${media}`,
    {
      numbers,
      patienceMs: 3_000,
      linking: "operator",
      transfer: { to: "+12025550120", refusing: numbers.busy },
      async broken() {
        const farEnd = await startFarEnd({ registrar: { challenge: { user: "100", password: "right" } } });
        const account = { user: "100", password: "wrong", register: true };
        const [telephony] = sip({ trunks: [{ name: "far-end", server: farEnd.uri, ...account }], media });
        return { telephony: telephony!, close: () => farEnd.close() };
      },
      lossless: false,
      async create() {
        const farEnd = await startFarEnd({
          callees: {
            [numbers.answers]: { transfers: { "+12025550120": [100, 180, 200], [numbers.busy]: [100, 486] } },
            [numbers.busy]: callees.busy,
            [numbers.rings]: callees.rings,
            [numbers.declines]: callees.declines,
            [numbers.hangsUp]: callees.hangsUp,
            [numbers.speaks]: { says: babble() },
            [numbers.presses.number]: callees.presses(numbers.presses.keys),
          },
        });
        const refusingFarEnd = await startFarEnd({
          callees: { "*": { rings: [], status: 500, reason: "Out of Order" } },
        });
        const trunks = [
          { name: "far-end", server: farEnd.uri, codecs: [codec] },
          { name: "refusing", server: refusingFarEnd.uri, codecs: [codec] },
        ];
        const world = { name: "world", trunks: [{ trunk: "refusing" }, { trunk: "far-end" }] };
        const [telephony] = sip({ trunks, routes: hasRefusingTrunk ? [world] : [], media });
        return {
          telephony: telephony!,
          heard: async () => farEnd.calls.at(-1)!.heard,
          close: async () => {
            await Promise.all([farEnd.close(), refusingFarEnd.close()]);
          },
        };
      },
    },
    { describe, test, expect },
  );
