import * as v from "valibot";
import { CALL_STATUSES } from "../../domain/calls/call.ts";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../domain/calls/outcome.ts";
import { milliseconds, shape } from "./shape.ts";

export const listenWaitingShape = shape("A message to a listener: nobody has picked up yet.", {
  type: v.literal("waiting"),
  status: v.picklist(CALL_STATUSES),
});

export const listenStartedShape = shape("A message to a listener: the audio begins.", {
  type: v.literal("started"),
  sample_rate: v.pipe(v.number(), v.description("Hz, of each channel.")),
  encoding: v.literal("pcm_s16le"),
  channels: v.pipe(
    v.array(v.picklist(["callee", "played"])),
    v.description("In the order of the interleaved samples: the callee, and what was played to them."),
  ),
});

export const listenGapShape = shape(
  "A message to a listener: audio is missing here, because the client read too slowly.",
  {
    type: v.literal("gap"),
    lost_ms: milliseconds,
  },
);

export const listenEndedShape = shape("The last message to a listener: the call is over.", {
  type: v.literal("call_ended"),
  status: v.picklist(["COMPLETED", "FAILED"]),
  reason: v.picklist([...COMPLETED_REASONS, ...FAILED_REASONS]),
});
