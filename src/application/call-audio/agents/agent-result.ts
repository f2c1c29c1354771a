import { errorText } from "../../../base/error.ts";
import { within } from "../../../base/timers.ts";
import type { CallResult } from "../../../domain/calls/call.ts";
import { type JsonSchema, schemaFaults } from "../../../domain/input/json-schema.ts";
import type { Conversation } from "../../../ports/conversation.ts";
import type { System } from "../../../ports/system.ts";

/** Time that the agent may take after the end of its call, ms. */
const AFTER_CALL_MS = 10_000;
/** Maximum length of a result, characters of JSON. */
const MAX_RESULT_CHARACTERS = 16_000;
/** Maximum number of requests: an agent may correct an invalid result once. */
const ATTEMPTS = 2;
/** Maximum length of an explanation that is stored, characters. */
const MAX_ERROR_CHARACTERS = 500;

/** The result that an agent states for its call, or the reason why it is unknown. */
export interface Findings {
  readonly result?: CallResult | undefined;
  /**
   * Reason why the result is missing: null if the result matches the call's schema; undefined if the call has no schema
   * and the result could be read.
   */
  readonly resultError: string | null | undefined;
}

/** The findings at the end of a call, or a promise of them. */
export type FindingsAtEnd = { readonly findings: Findings } | { readonly findingsPromise: Promise<Findings> };

/** The part of a conversation that states a result. */
export type Reporter = Pick<Conversation, "result" | "report">;

/**
 * Asks an agent for the result of its call, while the last words are played or after the end, and checks the result.
 */
export class AgentResult {
  readonly #context: { readonly system: System };
  readonly #conversation: Reporter;
  readonly #schema: JsonSchema;
  readonly #limit = new AbortController();
  #request: Promise<Findings> | undefined;
  /** Undefined until they are known. */
  #findings: Findings | undefined;

  constructor(context: { readonly system: System }, conversation: Reporter, schema: JsonSchema) {
    this.#context = context;
    this.#conversation = conversation;
    this.#schema = schema;
  }

  /** Requests the findings, once. Resolves with them; never rejects. */
  ask(): Promise<Findings> {
    this.#request ??= this.#find().then((findings) => {
      this.#findings = findings;
      return findings;
    });
    return this.#request;
  }

  /** Handles the end of the call: requests the findings if they are missing, within {@link AFTER_CALL_MS}. */
  atEnd(): FindingsAtEnd {
    return this.#findings ? { findings: this.#findings } : { findingsPromise: this.#askAfterCall() };
  }

  #askAfterCall(): Promise<Findings> {
    const timeoutError = new Error(`it took longer than ${AFTER_CALL_MS / 1_000} s after the call`);
    const cancel = this.#context.system.after(AFTER_CALL_MS, () => this.#limit.abort(timeoutError));
    return this.ask().finally(cancel);
  }

  async #find(): Promise<Findings> {
    const conversation = this.#conversation;
    let fault: string | undefined;
    try {
      if (conversation.report === undefined) return this.#check(conversation.result ?? {});
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const findings = this.#check(await this.#withTimeout(conversation.report({ fault }, this.#limit.signal)));
        if (findings.resultError === null) return findings;
        fault = findings.resultError ?? undefined;
      }
    } catch (error) {
      return noResult(error);
    }
    return { resultError: fault ?? null };
  }

  /** The agent's value; rejects if the agent takes too long. */
  #withTimeout(value: unknown): Promise<unknown> {
    const { signal } = this.#limit;
    const ms = 10 * AFTER_CALL_MS; // no goodbye before the end of the call takes longer
    return within(Promise.resolve(value), {
      system: this.#context.system,
      ms,
      timeoutError: () => new Error("it took too long"),
      signal,
    });
  }

  #check(value: unknown): Findings {
    const json = JSON.stringify(value) ?? "null";
    if (json.length > MAX_RESULT_CHARACTERS) return tooLong(json);
    const storedForm: unknown = JSON.parse(json); // check the stored form: a Date becomes a string
    const faults = schemaFaults(this.#schema, storedForm);
    if (faults.length === 0) return { result: storedForm as CallResult, resultError: null };
    return {
      resultError: `the result does not match resultSchema: ${faults.join("; ")}`.slice(0, MAX_ERROR_CHARACTERS),
    };
  }
}

/** The result that an agent states voluntarily, on a call without a schema. Never throws. */
export function statedResult(read: () => CallResult | undefined): Findings {
  try {
    const result = read();
    const json = JSON.stringify(result) ?? "";
    return json.length > MAX_RESULT_CHARACTERS ? tooLong(json) : { result, resultError: undefined };
  } catch (error) {
    return noResult(error);
  }
}

const tooLong = ({ length }: string): Findings => ({
  resultError: `the result has ${length} characters, at most ${MAX_RESULT_CHARACTERS} are allowed`,
});

const noResult = (error: unknown): Findings => ({
  resultError: `the agent did not report a result: ${errorText(error)}`.slice(0, MAX_ERROR_CHARACTERS),
});
