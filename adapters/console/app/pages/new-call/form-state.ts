import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { randomKey } from "../../../../../src/base/hex.ts";
import type { Limits } from "../../../../../src/domain/limits.ts";
import { type CallForm, EMPTY_FORM, type FormField } from "./call-form.ts";
import { type FieldFault, FormChecks, faultsByField, problemFaults } from "./form-faults.ts";

/** A form that is being filled in, with its values and faults. */
export class FormState {
  readonly form = signal<CallForm>(EMPTY_FORM);
  /** The faults by field, with general ones under `undefined`; empty before the first attempt to submit. */
  readonly faults: ReadonlySignal<ReadonlyMap<FormField | undefined, readonly FieldFault[]>>;
  readonly #checks: ReadonlySignal<FormChecks>;
  readonly #toCheckedForm: (form: CallForm) => CallForm;
  readonly #isValidated = signal(false);
  /** Faults reported by the server; cleared by the next change. */
  readonly #serverFaults = signal<readonly FieldFault[]>([]);
  #key = randomKey();

  /** @param toCheckedForm returns the form to check in place of the one being filled in. Default: that form */
  constructor(limits: ReadonlySignal<Limits>, toCheckedForm: (form: CallForm) => CallForm = (form) => form) {
    this.#toCheckedForm = toCheckedForm;
    this.#checks = computed(() => new FormChecks(limits.value));
    this.faults = computed(() =>
      faultsByField([...(this.#isValidated.value ? this.#localFaults() : []), ...this.#serverFaults.value]),
    );
  }

  /** The form's idempotency key, so that sending it repeatedly creates one call. */
  get idempotencyKey(): string {
    return this.#key;
  }

  edit(change: Partial<CallForm>): void {
    this.form.value = { ...this.form.value, ...change };
    this.#serverFaults.value = [];
    this.#key = randomKey();
  }

  /** Starts showing faults. @returns true if there are none */
  validate(): boolean {
    this.#isValidated.value = true;
    this.#serverFaults.value = [];
    return this.#localFaults().length === 0;
  }

  /** Shows the faults in the server's refusal. */
  showServerFaults(problem: Parameters<typeof problemFaults>[0]): void {
    this.#serverFaults.value = problemFaults(problem);
  }

  /** Called when the server has returned a call, so that the next attempt creates another one. */
  renewKey(): void {
    this.#key = randomKey();
  }

  #localFaults(): readonly FieldFault[] {
    return this.#checks.value.faults(this.#toCheckedForm(this.form.value));
  }
}
