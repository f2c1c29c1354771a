// The telephony contract tests that suit a loudspeaker: it always answers and never speaks.
// With vitest: `import { describe, expect, test } from "vitest"`.
import { describe, expect, test } from "bun:test";
import { telephonyContract } from "ringport/testing";
import { loudspeaker } from "./loudspeaker.ts";

const skip = "a loudspeaker answers, and listens";
const numbers = { busy: { skip }, declines: { skip }, unknown: { skip }, hangsUp: { skip }, speaks: { skip } };

async function create() {
  const heard = new Map<string, number[]>();
  const telephony = loudspeaker((callId, frame) => {
    if (!heard.get(callId)?.push(...frame)) heard.set(callId, [...frame]);
  });
  return {
    telephony,
    scan: async (payload: string) => {
      const path = new URL(payload).pathname.replace("/loudspeaker", "");
      await telephony.pages?.page(path, new Request(payload));
    },
    heard: async (callId: string) => Int16Array.from(heard.get(callId) ?? []),
    close: async () => {},
  };
}

telephonyContract(
  "A loudspeaker",
  {
    create,
    numbers: { ...numbers, answers: "+12025550100", rings: "+12025550100", presses: { skip } },
    patienceMs: 2_000,
    lossless: true,
  },
  { describe, expect, test },
);
