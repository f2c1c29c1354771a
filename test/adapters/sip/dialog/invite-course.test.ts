import { describe, expect, test } from "vitest";
import { INVITE_COURSE, type InviteState } from "../../../../adapters/telephony/sip/dialog/invite-course.ts";
import { isFinal, nextState } from "../../../../src/base/machine.ts";

const states = Object.keys(INVITE_COURSE) as InviteState[];

describe("the course of an INVITE", () => {
  test("has one end, which every state can come to at any time", () => {
    expect(states.filter((state) => isFinal(INVITE_COURSE, state))).toEqual(["ended"]);
    for (const state of states)
      expect(nextState(INVITE_COURSE, state, "over"), state).toBe(state === "ended" ? undefined : "ended");
  });

  test("never goes back to calling, and is established only by an answer that nobody has cancelled", () => {
    const ways = states.flatMap((from) => Object.entries(INVITE_COURSE[from]).map(([input, to]) => [from, input, to]));
    expect(ways.filter(([, , to]) => to === "calling")).toEqual([]);
    expect(ways.filter(([, , to]) => to === "established")).toEqual([["calling", "answer", "established"]]);
  });

  test("ends by BYE wherever the far side has answered, and by CANCEL only before", () => {
    expect(nextState(INVITE_COURSE, "established", "hangUp")).toBe("releasing");
    expect(nextState(INVITE_COURSE, "cancelling", "answer")).toBe("releasing");
    expect(nextState(INVITE_COURSE, "calling", "misfit")).toBe("releasing");
    expect(states.filter((state) => nextState(INVITE_COURSE, state, "hangUp") === "cancelling")).toEqual(["calling"]);
  });
});
