import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { randomKey } from "../../../../../src/base/hex.ts";
import type { Limits } from "../../../../../src/domain/limits.ts";
import { type CallForm, EMPTY_FORM, type FormField } from "./call-form.ts";
import { byField, FormChecks, type PlacedFault, problemFaults } from "./form-faults.ts";

/** A form that is being filled in, with its values and faults. */
export class FormState {
  readonly form = signal<CallForm>(EMPTY_FORM);
  /** The faults by field, with those of the form under `undefined`; empty before the first attempt to submit. */
  readonly faults: ReadonlySignal<ReadonlyMap<FormField | undefined, readonly PlacedFault[]>>;
  readonly #checks: ReadonlySignal<FormChecks>;
  readonly #attempted = signal(false);
  /** Faults reported by the server; dropped with the next change. */
  readonly #refused = signal<readonly PlacedFault[]>([]);
  #key = randomKey();

  constructor(limits: ReadonlySignal<Limits>) {
    this.#checks = computed(() => new FormChecks(limits.value));
    this.faults = computed(() => byField([...(this.#attempted.value ? this.#own() : []), ...this.#refused.value]));
  }

  /** The idempotency key of the form: however many times it is sent, it creates one call. */
  get idempotencyKey(): string {
    return this.#key;
  }

  edit(change: Partial<CallForm>): void {
    this.form.value = { ...this.form.value, ...change };
    this.#refused.value = [];
    this.#key = randomKey();
  }

  /** Starts showing faults. @returns true if there are none */
  attempt(): boolean {
    this.#attempted.value = true;
    this.#refused.value = [];
    return this.#own().length === 0;
  }

  /** Shows the faults for which the server has refused the form. */
  refuse(problem: Parameters<typeof problemFaults>[0]): void {
    this.#refused.value = problemFaults(problem);
  }

  /** Called when the server has returned a call: the next attempt creates another one. */
  sent(): void {
    this.#key = randomKey();
  }

  #own(): readonly PlacedFault[] {
    return this.#checks.value.faults(this.form.value);
  }
}
