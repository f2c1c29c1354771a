import type { Principal } from "../../domain/access/principal.ts";
import type { Batch, BatchMessage } from "../../domain/batches/batch.ts";
import {
  type CreateBatchInput,
  retryPolicyOf,
  scheduleOf,
  type TargetInput,
} from "../../domain/batches/batch-input.ts";
import { templateFaults, variablesOf } from "../../domain/batches/message-template.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import { parseBody } from "../../domain/input/input-parser.ts";
import { type Fault, invalidInput, Refusal } from "../../domain/refusal.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { CallCreation, CallCreationContext } from "../calls/creation/call-creation.ts";
import { withCheckedLimits } from "../calls/creation/destinations.ts";
import type { CreateOptions } from "../use-cases.ts";
import { callBody, networksOf } from "./target-checks.ts";

/** A checked batch, ready to be stored. */
export interface CheckedBatch {
  readonly batch: Batch;
  readonly audio: Uint8Array | undefined;
  readonly networks: readonly Telephony[];
  readonly targets: readonly TargetRow[];
  readonly mustStart: boolean;
}

/** Minimum time between a call to a callee from outside the batch and one from the batch, ms. */
const DEFAULT_GAP_MS = 15 * 60_000;
const DEFAULT_BREAKER = { share: 0.5, calls: 20 };
/** A number that passes every format check; it is never called. */
const SAMPLE_NUMBER = "+12025550100";

/**
 * Checks the body of a new batch, except for its targets.
 * @throws {Refusal} with all faults; `instance_not_found`
 */
export async function checkedBatch(
  context: CallCreationContext,
  creation: CallCreation,
  principal: Principal,
  body: CreateBatchInput,
  { strict = false, signal }: Pick<CreateOptions, "strict" | "signal">,
): Promise<CheckedBatch> {
  const { schemas, strictSchemas, ids, system } = context;
  const input = parseBody((strict ? strictSchemas : schemas).createBatch, body, { strict });
  const { userId, tokenId = null, allowedPrefixes, maxCallsPerDay } = withCheckedLimits(principal);
  const networks = await networksOf(context, principal, input.instanceIds);
  const { onMachine } = input;
  const message = {
    ...input.message,
    ...(onMachine !== undefined && withMachine(input.message, onMachine)),
  } as BatchMessage;
  const checked = await checkedMessage(creation, principal, message, input.instanceIds[0] ?? "", { strict, signal });
  const now = system.now();
  const { retry, schedule, maxConcurrent, gapMs = DEFAULT_GAP_MS, breaker = DEFAULT_BREAKER } = input;
  const batch: Batch = {
    id: ids("batch"),
    userId,
    tokenId,
    ...(allowedPrefixes && { allowedPrefixes }),
    ...(maxCallsPerDay !== undefined && { maxCallsPerDay }),
    name: input.name,
    status: "DRAFT",
    instanceIds: input.instanceIds,
    message: checked.message,
    schedule: schedule ? scheduleOf(schedule) : {},
    ...(retry && { retry: retryPolicyOf(retry) }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    gapMs,
    ...(breaker !== false && { breaker }),
    reason: null,
    lastPosition: 0,
    startedAt: null,
    endedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
  const targets = (input.targets ?? []).map((target, index) => ({ row: index + 1, input: target as TargetInput }));
  return { batch, audio: checked.file, networks, targets, mustStart: input.start ?? false };
}

/** The message with the batch's policy for machines. */
function withMachine({ type, agent }: Record<string, unknown>, onMachine: string): Record<string, unknown> {
  return type === "DYNAMIC_AGENT" ? { agent: { ...(agent as object), onMachine } } : { onMachine };
}

/** The message to store, and its audio file; checked with sample values in place of the variables. */
async function checkedMessage(
  creation: CallCreation,
  principal: Principal,
  message: BatchMessage,
  instanceId: string,
  options: Pick<CreateOptions, "strict" | "signal">,
): Promise<{ message: BatchMessage; file?: Uint8Array | undefined }> {
  const sample = Object.fromEntries(variablesOf(message).map((name) => [name, "1"]));
  const body = callBody(message, { phoneNumber: SAMPLE_NUMBER, variables: sample }, instanceId, message.audio);
  const faults = templateFaults(message);
  let checked: { message: BatchMessage; file?: Uint8Array | undefined } = { message };
  try {
    const input = await creation.check(withSampleVoice(body, message), options);
    // A stored file is looked up when the batch is stored: a repeated request may come after its deletion.
    if (input.type === "FIXED_AUDIO" && "audioBase64" in input.audio) {
      const { message: audio, file } = await creation.audioMessage(principal, input, options.signal);
      checked = { message: { ...message, audio }, file };
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.errors.length === 0) throw error;
    faults.push(...error.errors.filter(({ code }) => code !== "placeholder_invalid"));
  }
  const [first, ...others] = faults.map((fault): Fault => ({ ...fault, pointer: `/message${fault.pointer}` }));
  if (first) throw invalidInput([first, ...others]);
  return checked;
}

/** A voice that depends on the target is checked with each target. */
function withSampleVoice(body: Record<string, unknown>, { tts, agent }: BatchMessage): unknown {
  const isVariable = (speaker: unknown): boolean =>
    typeof speaker === "object" &&
    speaker !== null &&
    String((speaker as { voiceId?: unknown }).voiceId).includes("{{");
  if (isVariable(tts)) return { ...body, tts: { ...(body.tts as object), voiceId: "en-US-1" } };
  if (!isVariable(agent)) return body;
  const { voiceId: _, ...others } = body.agent as Record<string, unknown>;
  return { ...body, agent: others };
}
