import { describe, expect, test } from "vitest";
import { INVITE_TRANSITIONS, type InviteState } from "../../../adapters/sip-stack/dialog/invite.ts";
import { isFinal, nextState } from "../../../src/base/state-machine.ts";

const states = Object.keys(INVITE_TRANSITIONS) as InviteState[];

describe("the transitions of an outbound call", () => {
  test("have one final state, reachable from every state", () => {
    expect(states.filter((state) => isFinal(INVITE_TRANSITIONS, state))).toEqual(["ended"]);
    for (const state of states)
      expect(nextState(INVITE_TRANSITIONS, state, "end"), state).toBe(state === "ended" ? undefined : "ended");
  });

  test("never return to calling; only an uncancelled answer establishes the call", () => {
    const transitions = states.flatMap((from) =>
      Object.entries(INVITE_TRANSITIONS[from]).map(([input, to]) => [from, input, to]),
    );
    expect(transitions.filter(([, , to]) => to === "calling")).toEqual([]);
    expect(transitions.filter(([, , to]) => to === "established")).toEqual([["calling", "answer", "established"]]);
  });

  test("result in BYE after an answer, and in CANCEL only before one", () => {
    expect(nextState(INVITE_TRANSITIONS, "established", "hangUp")).toBe("releasing");
    expect(nextState(INVITE_TRANSITIONS, "cancelling", "answer")).toBe("releasing");
    expect(nextState(INVITE_TRANSITIONS, "calling", "unacceptable")).toBe("releasing");
    expect(states.filter((state) => nextState(INVITE_TRANSITIONS, state, "hangUp") === "cancelling")).toEqual([
      "calling",
    ]);
  });
});
