import { describe, expect, test } from "vitest";
import type { Field } from "../../../support/sip/sip-text.ts";
import { HttpScene } from "./http-scene.ts";

/** The outcome of a call that rings and is then refused with this response, as the HTTP interface shows it. */
async function outcomeOf(
  status: number,
  reason: string,
  fields: readonly Field[] = [],
  rings: readonly number[] = [180],
) {
  const scene = await HttpScene.open({ rings, status, reason, fields });
  const call = await scene.endedCall();
  expect(call.status).toBe("FAILED");
  const { body: events } = await scene.send("GET", `/v1/calls/${call.id}/events`);
  const [failedEvent] = events.filter(({ type }: { type: string }) => type === "failed");
  expect(failedEvent.data).toMatchObject({ reason: call.outcome.reason, detail: call.outcome.detail });
  return call.outcome;
}

describe("an outcome over HTTP", () => {
  test("is declined if a person declines", async () => {
    expect(await outcomeOf(603, "Decline")).toMatchObject({ reason: "declined", detail: "SIP 603 Decline" });
  });

  test("is rejected_by_network with the addresses of the service that blocked the call", async () => {
    const text = "v=analytics1;url=https://redress.example/b;tel=+18005550100;email=help@redress.example;id=47";
    const fields: readonly Field[] = [["Reason", `SIP;cause=603;text="${text}"`]];
    const { reason, detail } = await outcomeOf(603, "Network Blocked", fields, []);
    expect(reason).toBe("rejected_by_network");
    expect(detail).toContain(
      "object at https://redress.example/b, tel +18005550100, email help@redress.example, id 47",
    );
  });

  test("has the code from a provider's own field", async () => {
    const { reason, detail } = await outcomeOf(603, "Decline", [["X-Twilio-Error", "32017 call blocked"]]);
    expect(reason).toBe("rejected_by_network");
    expect(detail).toMatch(/^SIP 603 Decline \(X-Twilio-Error: 32017 call blocked\): the provider refused the call; /);
  });

  test.each([
    [607, "Unwanted", []],
    [608, "Rejected", [["Call-Info", "<https://block.example/card>;purpose=jwscard"]]],
    [438, "Invalid Identity Header", []],
  ] as const)("is rejected_by_network for %i", async (status, phrase, fields) => {
    expect((await outcomeOf(status, phrase, fields)).reason).toBe("rejected_by_network");
  });
});
