import { expect, test } from "vitest";
import { addressStep } from "../../../../../adapters/telephony/sip/check/answer-steps.ts";

const PUBLIC = "203.0.113.9";
const PRIVATE = "10.0.0.5";

test.each([
  ["a private SDP address towards a server on the internet", undefined, undefined, PRIVATE, true, "broken"],
  ["a private SDP address towards a server in the same network", undefined, undefined, PRIVATE, false, undefined],
  ["the address that the server sees", undefined, PUBLIC, PUBLIC, true, "works"],
  ["a publicAddress that the server sees too", PUBLIC, PUBLIC, PUBLIC, true, "works"],
  ["a publicAddress with a port", `${PUBLIC}:5060`, PUBLIC, PUBLIC, true, "works"],
  ["a publicAddress that the server does not see", "198.51.100.7", PUBLIC, "198.51.100.7", true, "broken"],
  ["a private publicAddress", PRIVATE, undefined, PRIVATE, true, "broken"],
] as const)("the step for %s has a fix", (_, publicAddress, seenAddress, advertised, isPublic, state) => {
  const [step] = addressStep(publicAddress, seenAddress, { local: PRIVATE, advertised, isPublic, server: PUBLIC });
  expect(step?.state).toBe(state);
  if (step !== undefined) expect(step.fix).toMatch(/`publicAddress`|`rtpPorts`/);
});
