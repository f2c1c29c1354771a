import type { View } from "../http/schemas.ts";

/** An instance, as lists and creations answer it. */
export type Instance = View<"Instance">;
/** An instance with its active calls. */
export type InstanceDetails = View<"InstanceDetails">;
/** The QR code that links a phone number. */
export type LinkingCode = View<"LinkingCode">;
/** What the creation of a call answers. */
export type CreatedCall = View<"CreatedCall">;
/** A call. */
export type Call = View<"Call">;
/** How a call turned out. */
export type Outcome = View<"Outcome">;
/** One line of a timeline. */
export type CallEvent = View<"Event">;
/** A voice that can speak. */
export type Voice = View<"Voice">;

/** An object that is added to a call on request. */
export type CallExpansion = "outcome" | "transcript" | "media";

/** A call with the objects that were asked for. */
export type CallWith<E extends CallExpansion> = [E] extends [never]
  ? Call
  : Call & { [Name in E]: Exclude<Call[Name], undefined> };

/** A call that is over. */
export type FinishedCall = Call & { status: "COMPLETED" | "FAILED"; outcome: Outcome };
