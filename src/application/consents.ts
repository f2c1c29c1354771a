import type { Principal } from "../domain/access/principal.ts";
import type { Consent, ConsentStatus } from "../domain/dialling-rules/consent.ts";
import { CONSENT_SCHEMA } from "../domain/dialling-rules/consent-input.ts";
import { parseBody } from "../domain/input/input-parser.ts";
import { checkedPhone } from "../domain/numbers/phone-number.ts";
import { Refusal } from "../domain/refusal.ts";
import type { ConsentStore, Page } from "../ports/storage.ts";
import type { System } from "../ports/system.ts";
import type { Context } from "./context.ts";
import type { ConsentUseCases, CreateOptions, StoredConsent } from "./use-cases.ts";
import { refuseDemo } from "./user-limits/refuse-demo.ts";

const DEMO = "a demo token cannot use consents";

/** The use cases of consents. */
export class Consents implements ConsentUseCases {
  readonly #store: ConsentStore;
  readonly #system: System;
  readonly #maxConsents: number;

  constructor({ storage, system, limits }: Pick<Context, "storage" | "system" | "limits">) {
    this.#store = storage.consents;
    this.#system = system;
    this.#maxConsents = limits.consentsPerUser;
  }

  async put(
    principal: Principal,
    phone: string,
    input: unknown,
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<StoredConsent> {
    const number = checkedPhone(phone, "");
    const { status, source = null } = parseBody(CONSENT_SCHEMA, input, { strict });
    refuseDemo(principal, DEMO);
    const now = this.#system.now();
    const { userId } = principal;
    const consent = { userId, phone: number, status, source, createdAt: now, updatedAt: now };
    const result = await this.#store.put(consent, this.#maxConsents);
    if (result === "user_deleted") throw new Refusal("unauthorized", "the account of this token was deleted");
    if (result === "at_limit")
      throw new Refusal(
        "consent_quota",
        `you have ${this.#maxConsents} consents, and this server allows ${this.#maxConsents}; delete one first`,
      );
    return { ...result.consent, created: result.created };
  }

  async get(principal: Principal, phone: string): Promise<Consent> {
    refuseDemo(principal, DEMO);
    const number = checkedPhone(phone, "");
    return (await this.#store.get(principal.userId, number)) ?? notFound(number);
  }

  async delete(principal: Principal, phone: string): Promise<void> {
    refuseDemo(principal, DEMO);
    const number = checkedPhone(phone, "");
    if (!(await this.#store.delete(principal.userId, number))) notFound(number);
  }

  async list(
    principal: Principal,
    filter: { status?: ConsentStatus | undefined } = {},
    page: Page = {},
  ): Promise<Consent[]> {
    refuseDemo(principal, DEMO);
    return this.#store.list(principal.userId, filter, page);
  }
}

function notFound(phone: string): never {
  throw new Refusal("consent_not_found", `no consent for ${phone} is recorded`);
}
