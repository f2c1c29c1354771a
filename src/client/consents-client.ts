import type { ConsentStatus } from "../domain/dialling-rules/consent.ts";
import type { ConsentInput } from "../domain/dialling-rules/consent-input.ts";
import type { RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type Page, type PageQuery } from "./list-pages.ts";
import type { Consent } from "./views.ts";

/** Filter for consents; the fields are named after the query parameters. */
export interface ListConsentsQuery extends PageQuery {
  readonly status?: ConsentStatus | undefined;
}

/** Consents of callees. All methods throw `RingportError`; numbers are E.164. */
export interface ConsentsClient {
  /** Records a consent, replacing an earlier consent. */
  put(phone: string, input: ConsentInput, options?: RequestOptions): Promise<Consent>;
  get(phone: string, options?: RequestOptions): Promise<Consent>;
  /** Deletes the recorded consent. */
  delete(phone: string, options?: RequestOptions): Promise<void>;
  /** All consents by ascending number, read in pages of `limit` numbers. */
  list(query?: ListConsentsQuery, options?: RequestOptions): AsyncGenerator<Consent, void, undefined>;
  /** One page of the consents; all of them if `limit` is missing. */
  page(query?: ListConsentsQuery, options?: RequestOptions): Promise<Page<Consent>>;
}

const PAGE_SIZE = 1_000;

export function consentsClient(transport: Transport): ConsentsClient {
  const root = "/v1/consents";
  const pathOf = (phone: string) => `${root}/${encodeURIComponent(phone)}`;
  const page: ConsentsClient["page"] = (query = {}, options) => transport.page(root, { ...query }, options);
  return {
    put: (phone, input, options) => transport.put(pathOf(phone), input, options),
    get: (phone, options) => transport.get(pathOf(phone), {}, options),
    delete: (phone, options) => transport.delete(pathOf(phone), options),
    list: ({ limit = PAGE_SIZE, cursor, status } = {}, options) =>
      allItems((cursor) => page({ limit, cursor, status }, options), cursor),
    page,
  };
}
