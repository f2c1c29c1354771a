import { expect, test } from "vitest";
import { addressStep } from "../../../../../adapters/telephony/sip/check/answer-steps.ts";

const PUBLIC_ADDRESS = "203.0.113.9";
const PRIVATE_ADDRESS = "10.0.0.5";

test.each([
  ["a private SDP address towards a server on the internet", undefined, undefined, PRIVATE_ADDRESS, true, "broken"],
  [
    "a private SDP address towards a server in the same network",
    undefined,
    undefined,
    PRIVATE_ADDRESS,
    false,
    undefined,
  ],
  ["the address that the server sees", undefined, PUBLIC_ADDRESS, PUBLIC_ADDRESS, true, "works"],
  ["a publicAddress that the server also sees", PUBLIC_ADDRESS, PUBLIC_ADDRESS, PUBLIC_ADDRESS, true, "works"],
  ["a publicAddress with a port", `${PUBLIC_ADDRESS}:5060`, PUBLIC_ADDRESS, PUBLIC_ADDRESS, true, "works"],
  ["a publicAddress that the server does not see", "198.51.100.7", PUBLIC_ADDRESS, "198.51.100.7", true, "broken"],
  ["a private publicAddress", PRIVATE_ADDRESS, undefined, PRIVATE_ADDRESS, true, "broken"],
] as const)("the step for %s has a fix", (_, publicAddress, seenAddress, advertisedAddress, isPublic, state) => {
  const [step] = addressStep(publicAddress, seenAddress, {
    local: PRIVATE_ADDRESS,
    advertised: advertisedAddress,
    isPublic,
    server: PUBLIC_ADDRESS,
  });
  expect(step?.state).toBe(state);
  if (step !== undefined) expect(step.fix).toMatch(/`publicAddress`|`rtpPorts`/);
});
