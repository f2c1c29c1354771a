import type { DialProgress } from "../../domain/calls/dial-progress.ts";
import type { Leg, TransferOutcome } from "../../ports/telephony/leg.ts";
import type { Line, LineHealth, PairingCode } from "../../ports/telephony/line.ts";
import type { MediaEvidence, Telephony } from "../../ports/telephony.ts";
import {
  acceptCount,
  acceptFlag,
  acceptOptional,
  acceptRecord,
  acceptText,
  anything,
  isPlainObject,
  nothing,
  only,
  port,
  sampleRate,
  typed,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { type Accept, asks, iterates, reads, returns, throwing } from "./rules.ts";

/** Time a network may take to decide on a number, ms. */
const DECIDE_MS = 5_000;
/** Time a network may take to delete its data of calls, ms. */
const FORGET_MS = 30_000;
/** Time a line may take to start linking, ms. */
const LINK_MS = 60_000;

const oneOf = <Value extends string>(...values: readonly Value[]): Accept<Value> =>
  only(`one of ${values.join(", ")}`, (value) => values.some((allowed) => allowed === value));

const nullable =
  <Value>(accept: Accept<Value>): Accept<Value | null> =>
  (value, name, parts) =>
    value === null ? null : accept(value, name, parts);

const UNKNOWN_PROGRESS: DialProgress = { reached: false, detail: null };
const NO_EVIDENCE: MediaEvidence = { kind: "none", required: false };

const LEG: Rules<Leg> = {
  sampleRate: reads(sampleRate),
  frameMs: reads(only("a length from 1 to 1000 ms", (ms) => typeof ms === "number" && ms >= 1 && ms <= 1_000)),
  codec: reads(acceptText),
  sipCallId: reads(acceptText),
  watchesLine: reads(acceptFlag),
  events: iterates(typed()),
  connectMedia: throwing(nothing),
  dtmf: reads(oneOf("event", "in-band")),
  sendDtmf: asks({ boundedBy: "the end of its call" }),
  transfer: asks(
    { boundedBy: "src/application/call-audio/agents/call-transfer.ts" },
    {
      accept: acceptRecord<Pick<TransferOutcome, "type" | "detail">>({
        type: oneOf<"accepted" | "failed">("accepted", "failed"),
        detail: nullable(acceptText),
      }) as Accept<TransferOutcome>,
    },
  ),
  progress: returns(acceptRecord<DialProgress>({ reached: acceptFlag }), UNKNOWN_PROGRESS),
  statistics: returns(
    only("an object or null", (value) => value === null || isPlainObject(value)),
    null,
  ),
  evidence: returns(acceptRecord<MediaEvidence>({ kind: acceptText as Accept<MediaEvidence["kind"]> }), NO_EVIDENCE),
  hangUp: asks({ boundedBy: "src/application/calls/live/call-session.ts" }),
};

const LINE: Rules<Line> = {
  link: asks(LINK_MS),
  pairingCode: asks(LINK_MS, { accept: acceptRecord<PairingCode>({ code: acceptText, expiresAt: acceptCount }) }),
  probe: asks(
    { boundedBy: "src/application/instances/prober.ts" },
    {
      accept: acceptRecord<Pick<LineHealth, "state">>({
        state: oneOf<"online" | "offline">("online", "offline"),
      }) as Accept<LineHealth>,
    },
  ),
  dial: asks({ boundedBy: "src/application/calls/live/call-session.ts" }, { accept: port(LEG, "leg") }),
  unlink: asks({ boundedBy: "src/application/instances/bounded-line.ts" }),
  close: asks({ boundedBy: "src/application/instances/bounded-line.ts" }),
};

const TELEPHONY: Rules<Telephony> = {
  name: reads(acceptText),
  capabilities: reads(only("an object", isPlainObject)),
  users: reads<NonNullable<Telephony["users"]>>(anything),
  open: asks({ boundedBy: "src/application/instances/bounded-line.ts" }, { accept: port(LINE, "line") }),
  refuses: asks(DECIDE_MS, { accept: acceptOptional(acceptText) }),
  forget: asks(FORGET_MS),
  close: asks({ boundedBy: "src/ringport.ts" }),
};

/** The network of an embedding program. */
export const guardedTelephony = (network: Telephony, parts: GuardParts): Guarded<Telephony> =>
  guarded(network, TELEPHONY, "telephony", parts);
