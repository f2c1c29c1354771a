import type { Transitions } from "../ports.ts";

/** The state of an outbound call: an INVITE and its dialog. */
export type InviteState = "calling" | "cancelling" | "established" | "releasing" | "ended";

/**
 * Inputs. `answer`: a 2xx with usable media; `unacceptable`: a 2xx without, which gets a BYE; `hangUp`: we end the call,
 * on request or by a timer; `over`: the call has ended.
 */
export type InviteInput = "answer" | "unacceptable" | "hangUp" | "over";

/** Transitions of an outbound call (RFC 3261 sections 9, 13 and 15). */
export const INVITE_TRANSITIONS: Transitions<InviteState, InviteInput> = {
  calling: { answer: "established", unacceptable: "releasing", hangUp: "cancelling", over: "ended" },
  // The answer has crossed our CANCEL: it gets its ACK, and a BYE.
  cancelling: { answer: "releasing", unacceptable: "releasing", over: "ended" },
  established: { hangUp: "releasing", over: "ended" },
  releasing: { over: "ended" },
  ended: {},
};
