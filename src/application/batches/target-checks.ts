import { errorText } from "../../base/error.ts";
import { nextTurn } from "../../base/turn-budget.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { Batch, BatchMessage, TargetFault } from "../../domain/batches/batch.ts";
import type { TargetInput } from "../../domain/batches/batch-input.ts";
import { inFileColumn } from "../../domain/batches/fault-column.ts";
import { filledMessage, variablesOf } from "../../domain/batches/message-template.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import {
  hoursFault,
  nextTargetTime,
  type TargetHours,
  targetHours,
  zonesKey,
} from "../../domain/batches/target-time.ts";
import { applicableConsent, calleeBlock } from "../../domain/dialling-rules/all-dialling-rules.ts";
import type { NumberProtection } from "../../domain/dialling-rules/number-protection.ts";
import { isObject } from "../../domain/input/input-checks.ts";
import { parseBody } from "../../domain/input/input-parser.ts";
import { numberForms, phoneKeyOf } from "../../domain/numbers/number-forms.ts";
import { PHONE_NUMBER } from "../../domain/numbers/phone-number.ts";
import { type Fault, Refusal } from "../../domain/refusal.ts";
import type { NewTarget } from "../../ports/storage.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { CallCreation } from "../calls/creation/call-creation.ts";
import type { DestinationsContext } from "../calls/creation/destinations.ts";
import { assertCallable, assertTokenAllows } from "../calls/creation/destinations.ts";
import type { Context } from "../context.ts";
import { ownedInstance } from "../instances/owned-instance.ts";
import type { CreateOptions } from "../use-cases.ts";

/** Dependencies of the target checks. */
export type TargetChecksContext = Pick<Context, "policy" | "schemas" | "storage" | "strictSchemas" | "system"> &
  DestinationsContext;

/**
 * Number of rows checked in one turn of the event loop: a row takes about 0.1 ms, and audio frames are due in between.
 */
const ROWS_PER_TURN = 10;
/** Maximum length of an invalid target's number, characters. */
const MAX_KEPT_NUMBER = 100;
/** Maximum length of a number quoted in a fault, characters. */
const MAX_QUOTED_NUMBER = 40;
/** Any audio file, in place of the batch's, which was checked when the batch was created. */
const CHECKED_AUDIO = { audioBase64: "UklGRg==" };

/** Checks the targets of one batch for everything that would keep a call from being placed. */
export class TargetChecks {
  readonly #context: TargetChecksContext;
  readonly #creation: Pick<CallCreation, "check">;
  readonly #principal: Principal;
  readonly #message: BatchMessage;
  readonly #variables: readonly string[];
  readonly #instanceId: string;
  readonly #networks: readonly Telephony[];
  readonly #protection: NumberProtection;
  readonly #hours: TargetHours;

  /**
   * @param networks the networks of the batch's instances; a target is valid if one of them calls it
   * @param protection the number protection in force for the batch
   */
  constructor(
    context: TargetChecksContext,
    creation: Pick<CallCreation, "check">,
    principal: Principal,
    batch: Pick<Batch, "message" | "schedule" | "instanceIds">,
    { networks, protection }: { readonly networks: readonly Telephony[]; readonly protection: NumberProtection },
  ) {
    this.#context = context;
    this.#creation = creation;
    this.#principal = principal;
    this.#message = batch.message;
    this.#variables = variablesOf(batch.message);
    this.#instanceId = batch.instanceIds[0] ?? "";
    this.#networks = networks;
    this.#protection = protection;
    this.#hours = targetHours(batch.schedule, protection);
  }

  /** The targets to store, in the order of the rows; each with its faults. */
  async check(
    rows: readonly TargetRow[],
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<NewTarget[]> {
    const targets: NewTarget[] = [];
    const consents = await this.#consents(rows);
    for (const [index, row] of rows.entries()) {
      targets.push(await this.#target(row, consents, strict));
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn();
    }
    return targets;
  }

  async #target(row: TargetRow, consents: ReadonlyMap<string, readonly string[]>, strict: boolean): Promise<NewTarget> {
    const now = this.#context.system.now();
    const commonFields = { row: row.row, reason: null, updatedAt: now };
    if ("fault" in row)
      return {
        ...commonFields,
        phone: row.text.slice(0, MAX_KEPT_NUMBER),
        status: "INVALID",
        faults: [row.fault],
        phoneKey: null,
        zones: "",
        nextAttemptAt: null,
      };
    const { input } = row;
    const phone = typeof input?.phoneNumber === "string" ? input.phoneNumber.slice(0, MAX_KEPT_NUMBER) : "";
    const isNumber = PHONE_NUMBER.test(phone);
    const faults = (await this.#faults(input, consents, strict)).map((fault) => inFileColumn(fault, row.columns));
    const zones = isNumber ? zonesKey(phone) : "";
    return {
      ...commonFields,
      phone,
      ...fieldsOf(input),
      status: faults.length > 0 ? "INVALID" : "WAITING",
      ...(faults.length > 0 && { faults }),
      phoneKey: isNumber ? phoneKeyOf(phone) : null,
      zones,
      nextAttemptAt: faults.length > 0 ? null : (nextTargetTime(this.#hours, zones, now) ?? now),
    };
  }

  async #faults(
    input: TargetInput,
    consents: ReadonlyMap<string, readonly string[]>,
    strict: boolean,
  ): Promise<TargetFault[]> {
    const { schemas, strictSchemas, system } = this.#context;
    const faults: TargetFault[] = [];
    try {
      parseBody((strict ? strictSchemas : schemas).target, input, { strict });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.push(...error.errors.map((fault) => inputFault(fault, input)));
    }
    const variables = input?.variables ?? {};
    for (const name of this.#variables)
      if (!Object.hasOwn(variables, name) || String(variables[name]).trim() === "")
        faults.push({
          column: name,
          code: "variable_missing",
          detail: `the message needs the variable ${name}, and this row has none`,
        });
    if (faults.length > 0) return faults;
    const phone = input.phoneNumber;
    faults.push(...(await this.#messageFaults(input)));
    const refusal = await this.#destinationFault(phone);
    if (refusal) faults.push(refusal);
    const consent = applicableConsent((consents.get(phoneKeyOf(phone)) ?? []) as never);
    const block = calleeBlock(
      { ...this.#protection, callingHours: false },
      { phone, consent, zones: [] },
      system.now(),
    );
    if (block) faults.push({ column: "phoneNumber", code: "destination_not_allowed", detail: block.detail });
    const hoursReason = hoursFault(this.#hours, phone, system.now());
    if (hoursReason !== undefined) faults.push({ column: "phoneNumber", code: "value_invalid", detail: hoursReason });
    return faults;
  }

  /** Faults of the message when filled in with this target's values. */
  async #messageFaults(input: TargetInput): Promise<TargetFault[]> {
    try {
      await this.#creation.check(callBody(this.#message, input, this.#instanceId));
      return [];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const messageFaults = error.errors.filter(({ pointer }) => !pointer.startsWith("/audio/"));
      return messageFaults.map(({ pointer, code, detail }) => ({
        column: pointer.startsWith("/target") ? "extension" : `message${pointer.replaceAll("/", ".")}`,
        code,
        detail,
      }));
    }
  }

  async #destinationFault(phone: string): Promise<TargetFault | undefined> {
    let refusal: unknown;
    for (const network of this.#networks.length > 0 ? this.#networks : [undefined])
      try {
        assertTokenAllows(this.#principal, phone);
        await assertCallable(this.#context, network, phone);
        return undefined;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusal = error;
      }
    return { column: "phoneNumber", code: "destination_not_allowed", detail: errorText(refusal) };
  }

  /** The user's consents for these numbers, by number key. */
  async #consents(rows: readonly TargetRow[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const forms = rows.flatMap((row) =>
      "input" in row && PHONE_NUMBER.test(String(row.input?.phoneNumber)) ? numberForms(row.input.phoneNumber) : [],
    );
    const byKey = new Map<string, string[]>();
    if (forms.length === 0) return byKey;
    for (const { phone, status } of await this.#context.storage.consents.ofNumbers(this.#principal.userId, forms)) {
      const key = phoneKeyOf(phone);
      byKey.set(key, [...(byKey.get(key) ?? []), status]);
    }
    return byKey;
  }
}

/** The networks of a user's instances. @throws {Refusal} `instance_not_found` */
export async function networksOf(
  { storage, telephony }: Pick<Context, "storage" | "telephony">,
  principal: Principal,
  instanceIds: readonly string[],
): Promise<Telephony[]> {
  const networks = new Set<Telephony>();
  for (const id of instanceIds) {
    const network = telephony.get((await ownedInstance(storage, principal, id)).provider);
    if (network) networks.add(network);
  }
  return [...networks];
}

/**
 * The body of the call to a target, as `POST /v1/calls` would receive it.
 * @param audio an audio file that has not been checked yet
 */
export function callBody(
  message: BatchMessage,
  { phoneNumber, extension, variables, reference, metadata }: TargetInput,
  instanceId: string,
  audio: unknown = CHECKED_AUDIO,
): Record<string, unknown> {
  return {
    ...filledMessage(message, variables),
    ...(message.type === "FIXED_AUDIO" && { audio }),
    instanceId,
    target: { phoneNumber, ...(extension !== undefined && { extension }) },
    ...(reference !== undefined && { reference }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** The fields of an input that are stored, even if other fields are invalid. */
function fieldsOf(input: TargetInput): Pick<NewTarget, "extension" | "variables" | "reference" | "metadata"> {
  const { extension, variables, reference, metadata } = input ?? {};
  return {
    ...(typeof extension === "string" && { extension: extension.slice(0, MAX_KEPT_NUMBER).replaceAll("\0", "") }),
    ...(isObject(variables) && { variables }),
    ...(typeof reference === "string" && { reference }),
    ...(isObject(metadata) && { metadata }),
  };
}

/** The fault in a target's field, by its column. A fault in the phone number quotes the number. */
function inputFault({ pointer, code, detail }: Fault, input: TargetInput): TargetFault {
  const [, field = "", name] = pointer.split("/");
  const phone = field === "phoneNumber" ? input?.phoneNumber : undefined;
  if (typeof phone === "string" && phone.trim() !== "")
    return { column: field, code, detail: `"${phone.slice(0, MAX_QUOTED_NUMBER)}" ${detail}` };
  return { column: field === "variables" && name !== undefined ? name : field, code, detail };
}
