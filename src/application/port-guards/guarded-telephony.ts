import type { DialProgress } from "../../domain/calls/dial-progress.ts";
import type { Leg, TransferOutcome } from "../../ports/telephony/leg.ts";
import type { Line, LineHealth, PairingCode } from "../../ports/telephony/line.ts";
import type { AudioThread, MediaEvidence, Telephony } from "../../ports/telephony.ts";
import {
  acceptAny,
  acceptCount,
  acceptFlag,
  acceptList,
  acceptOnly,
  acceptOptional,
  acceptPort,
  acceptRecord,
  acceptSampleRate,
  acceptText,
  acceptTyped,
  acceptVoid,
  isPlainObject,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { type Accept, iterates, mayThrow, reads, resolves, returns } from "./rules.ts";

/** Maximum time for a network to decide on a number, ms. */
const DECIDE_MS = 5_000;
/** Maximum time for a network to delete its data about calls, ms. */
const FORGET_MS = 30_000;
/** Maximum time for a line to start linking, ms. */
const LINK_MS = 60_000;

const acceptOneOf = <Value extends string>(...values: readonly Value[]): Accept<Value> =>
  acceptOnly(`one of ${values.join(", ")}`, (value) => values.some((allowed) => allowed === value));

const acceptNullable =
  <Value>(accept: Accept<Value>): Accept<Value | null> =>
  (value, name, parts) =>
    value === null ? null : accept(value, name, parts);

const UNKNOWN_PROGRESS: DialProgress = { reached: false, detail: null };
const NO_EVIDENCE: MediaEvidence = { kind: "none", required: false };

const LEG: Rules<Leg> = {
  sampleRate: reads(acceptSampleRate),
  frameMs: reads(acceptOnly("a length from 1 to 1000 ms", (ms) => typeof ms === "number" && ms >= 1 && ms <= 1_000)),
  codec: reads(acceptText),
  sipCallId: reads(acceptText),
  watchesLine: reads(acceptFlag),
  events: iterates(acceptTyped()),
  connectMedia: mayThrow(acceptVoid),
  dtmf: reads(acceptOneOf("event", "in-band")),
  sendDtmf: resolves({ boundedBy: "the end of its call" }),
  transfer: resolves(
    { boundedBy: "src/application/call-audio/agents/call-transfer.ts" },
    {
      accept: acceptRecord<Pick<TransferOutcome, "type" | "detail">>({
        type: acceptOneOf<"accepted" | "failed">("accepted", "failed"),
        detail: acceptNullable(acceptText),
      }) as Accept<TransferOutcome>,
    },
  ),
  progress: returns(acceptRecord<DialProgress>({ reached: acceptFlag }), UNKNOWN_PROGRESS),
  statistics: returns(
    acceptOnly("an object or null", (value) => value === null || isPlainObject(value)),
    null,
  ),
  evidence: returns(acceptRecord<MediaEvidence>({ kind: acceptText as Accept<MediaEvidence["kind"]> }), NO_EVIDENCE),
  hangUp: resolves({ boundedBy: "src/application/calls/live/call-session.ts" }),
};

const LINE: Rules<Line> = {
  link: resolves(LINK_MS),
  pairingCode: resolves(LINK_MS, { accept: acceptRecord<PairingCode>({ code: acceptText, expiresAt: acceptCount }) }),
  probe: resolves(
    { boundedBy: "src/application/instances/prober.ts" },
    {
      accept: acceptRecord<Pick<LineHealth, "state">>({
        state: acceptOneOf<"online" | "offline">("online", "offline"),
      }) as Accept<LineHealth>,
    },
  ),
  dial: resolves({ boundedBy: "src/application/calls/live/call-session.ts" }, { accept: acceptPort(LEG, "leg") }),
  unlink: resolves({ boundedBy: "src/application/instances/bounded-line.ts" }),
  close: resolves({ boundedBy: "src/application/instances/bounded-line.ts" }),
};

const TELEPHONY: Rules<Telephony> = {
  name: reads(acceptText),
  capabilities: reads(acceptOnly("an object", isPlainObject)),
  users: reads<NonNullable<Telephony["users"]>>(acceptAny),
  open: resolves({ boundedBy: "src/application/instances/bounded-line.ts" }, { accept: acceptPort(LINE, "line") }),
  refuses: resolves(DECIDE_MS, { accept: acceptOptional(acceptText) }),
  audioThreads: returns(
    acceptList(
      acceptRecord<AudioThread>({
        number: acceptCount,
        calls: acceptCount,
        latenessMs: acceptCount,
        isOverloaded: acceptFlag,
      }),
    ),
    [],
  ),
  forget: resolves(FORGET_MS),
  close: resolves({ boundedBy: "src/ringport.ts" }),
};

/** The network of an embedding program. */
export const guardedTelephony = (network: Telephony, parts: GuardParts): Guarded<Telephony> =>
  guarded(network, TELEPHONY, "telephony", parts);
