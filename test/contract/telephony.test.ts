import { describe, expect, test } from "vitest";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { telephonyContract } from "../../src/testing/telephony-contract.ts";
import { heardBy, scan } from "../adapters/telephony/simulator/scan.ts";

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

for (const sampleRate of [16_000, 8_000] as const)
  telephonyContract(
    `simulator at ${sampleRate} Hz`,
    {
      numbers,
      patienceMs: 3_000,
      async broken() {
        const telephony = simulator({ timeScale: 0.05, sampleRate, lastingFault: "the account is closed" });
        return { telephony, scan: (payload) => scan(telephony, payload), async close() {} };
      },
      lossless: true,
      transfer: { to: "+12025550120", refusing: numbers.busy },
      async create() {
        const telephony = simulator({ timeScale: 0.05, sampleRate });
        return {
          telephony,
          scan: (payload) => scan(telephony, payload),
          heard: (callId) => heardBy(telephony, callId),
          async close() {},
        };
      },
    },
    { describe, test, expect },
  );
