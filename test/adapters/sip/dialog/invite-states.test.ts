import { describe, expect, test } from "vitest";
import { INVITE_TRANSITIONS, type InviteState } from "../../../../adapters/telephony/sip/dialog/invite-states.ts";
import { isFinal, nextState } from "../../../../src/base/machine.ts";

const states = Object.keys(INVITE_TRANSITIONS) as InviteState[];

describe("the course of an INVITE", () => {
  test("has one end, which every state can come to at any time", () => {
    expect(states.filter((state) => isFinal(INVITE_TRANSITIONS, state))).toEqual(["ended"]);
    for (const state of states)
      expect(nextState(INVITE_TRANSITIONS, state, "over"), state).toBe(state === "ended" ? undefined : "ended");
  });

  test("never goes back to calling, and is established only by an answer that nobody has cancelled", () => {
    const ways = states.flatMap((from) =>
      Object.entries(INVITE_TRANSITIONS[from]).map(([input, to]) => [from, input, to]),
    );
    expect(ways.filter(([, , to]) => to === "calling")).toEqual([]);
    expect(ways.filter(([, , to]) => to === "established")).toEqual([["calling", "answer", "established"]]);
  });

  test("ends by BYE wherever the far side has answered, and by CANCEL only before", () => {
    expect(nextState(INVITE_TRANSITIONS, "established", "hangUp")).toBe("releasing");
    expect(nextState(INVITE_TRANSITIONS, "cancelling", "answer")).toBe("releasing");
    expect(nextState(INVITE_TRANSITIONS, "calling", "unacceptable")).toBe("releasing");
    expect(states.filter((state) => nextState(INVITE_TRANSITIONS, state, "hangUp") === "cancelling")).toEqual([
      "calling",
    ]);
  });
});
