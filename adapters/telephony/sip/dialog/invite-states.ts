import type { Transitions } from "../../../../src/base/machine.ts";

/** Where an INVITE and its dialog are. */
export type InviteState = "calling" | "cancelling" | "established" | "releasing" | "ended";

/**
 * What moves it on. `answer`: a 2xx that we can live with; `unacceptable`: one that we cannot, so it wants a BYE; `hangUp`:
 * we have had enough (or a timer of ours); `over`: the last word has been said, by whomever.
 */
export type InviteInput = "answer" | "unacceptable" | "hangUp" | "over";

/** The course of an outbound call (RFC 3261 sections 9, 13 and 15). */
export const INVITE_TRANSITIONS: Transitions<InviteState, InviteInput> = {
  calling: { answer: "established", unacceptable: "releasing", hangUp: "cancelling", over: "ended" },
  // The answer has crossed our CANCEL: it gets its ACK, and a BYE.
  cancelling: { answer: "releasing", unacceptable: "releasing", over: "ended" },
  established: { hangUp: "releasing", over: "ended" },
  releasing: { over: "ended" },
  ended: {},
};
